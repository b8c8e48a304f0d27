#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <vector>

#include "lib/core/big_array.hpp"

namespace biogpu::io {

// fp32 numbers, or a piece of some. Copies and pieces share the memory, which nobody writes any
// more: the arrays of sequences are pieces of what a pass gave, which may be tens of megabytes.
class Values {
 public:
  Values() = default;
  // n numbers for the caller to set, before the first copy.
  static Values unset(std::size_t n) {
    Values values;
    if (n == 0) return values;
    values.owner_ = std::make_shared<BigArray<float>>(n);
    values.begin_ = values.owner_->data();
    values.size_ = n;
    return values;
  }
  // Copies of the numbers.
  template <class Iterator>
  Values(Iterator begin, Iterator end)
      : Values(unset(static_cast<std::size_t>(std::distance(begin, end)))) {
    std::copy(begin, end, begin_);
  }
  Values(const std::vector<float>& values) : Values(values.begin(), values.end()) {}
  Values(std::initializer_list<float> values) : Values(values.begin(), values.end()) {}

  Values piece(std::size_t first, std::size_t n) const {
    assert(first + n <= size_);
    Values values = *this;
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

  friend bool operator==(const Values& x, const Values& y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end());
  }

 private:
  std::shared_ptr<BigArray<float>> owner_;
  float* begin_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace biogpu::io
