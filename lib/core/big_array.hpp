#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <type_traits>
#include <utility>

#include "lib/core/aligned_buffer.hpp"

namespace biogpu {

// Owns n elements of T, uninitialised, on large pages where they are big enough to profit: arrays
// of the length of a genome are accessed at random, and what is filled once waits longer for small
// pages than for its bytes. Move only. Throws std::bad_alloc.
template <class T>
class BigArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  BigArray() = default;
  explicit BigArray(std::size_t n) : size_(n) {
    const std::size_t page = n * sizeof(T) >= 2 * kLargePage ? kLargePage : kLine;
    const std::size_t bytes = (n * sizeof(T) + page - 1) / page * page;
    if (bytes == 0) return;
    data_.reset(static_cast<T*>(allocate_aligned(page, bytes).release()));
    if (page == kLargePage) (void)::madvise(data_.get(), bytes, MADV_HUGEPAGE);
  }
  BigArray(BigArray&& other) noexcept { swap(other); }
  BigArray& operator=(BigArray&& other) noexcept {
    swap(other);
    return *this;
  }

  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  std::size_t size() const { return size_; }
  T& operator[](std::size_t i) { return data_.get()[i]; }
  const T& operator[](std::size_t i) const { return data_.get()[i]; }
  const T* begin() const { return data_.get(); }
  const T* end() const { return data_.get() + size_; }

 private:
  static constexpr std::size_t kLargePage = std::size_t{2} << 20;
  static constexpr std::size_t kLine = 64;

  void swap(BigArray& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }

  MallocPtr<T> data_;
  std::size_t size_ = 0;
};

}  // namespace biogpu
