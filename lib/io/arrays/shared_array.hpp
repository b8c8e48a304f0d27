#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "lib/core/big_array.hpp"

namespace biogpu::io {

// fp32 numbers, or a piece of some. Copies and pieces share the memory, which nobody writes any
// more: the arrays of sequences are pieces of what a pass gave, which may be tens of megabytes.
class SharedArray {
 public:
  SharedArray() = default;
  // n numbers for the caller to set, before the first copy.
  static SharedArray unset(std::size_t n) {
    if (n == 0) return {};
    const auto memory = std::make_shared<BigArray<float>>(n);
    return in(std::shared_ptr<float>(memory, memory->data()), n);
  }
  // The same in memory that somebody else made.
  static SharedArray in(std::shared_ptr<float> memory, std::size_t n) {
    SharedArray values;
    values.begin_ = memory.get();
    values.owner_ = std::move(memory);
    values.size_ = n;
    return values;
  }
  // Copies of the numbers.
  template <class Iterator>
  SharedArray(Iterator begin, Iterator end)
      : SharedArray(unset(static_cast<std::size_t>(std::distance(begin, end)))) {
    std::copy(begin, end, begin_);
  }
  SharedArray(const std::vector<float>& values) : SharedArray(values.begin(), values.end()) {}
  SharedArray(std::initializer_list<float> values) : SharedArray(values.begin(), values.end()) {}

  SharedArray piece(std::size_t first, std::size_t n) const {
    assert(first + n <= size_);
    SharedArray values = *this;
    if (n > 0) values.begin_ += first;
    values.size_ = n;
    return values;
  }

  float* data() {
    assert(owner_.use_count() <= 1);
    return begin_;
  }
  const float* data() const { return begin_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const float* begin() const { return begin_; }
  const float* end() const { return begin_ + size_; }
  float operator[](std::size_t i) const { return begin_[i]; }

  friend bool operator==(const SharedArray& x, const SharedArray& y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end());
  }

 private:
  std::shared_ptr<float> owner_;
  float* begin_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace biogpu::io
