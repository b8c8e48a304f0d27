#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

namespace biogpu::io {

// Bytes that grow by doubling and, unlike std::vector, are never zeroed first: a reader writes
// every byte anyway. Throws std::bad_alloc when memory runs out.
class CharBuffer {
 public:
  CharBuffer() = default;
  ~CharBuffer() { std::free(data_); }
  CharBuffer(const CharBuffer& other) { append(other.data_, other.size_); }
  CharBuffer(CharBuffer&& other) noexcept { swap(other); }
  CharBuffer& operator=(CharBuffer other) noexcept {
    swap(other);
    return *this;
  }

  char* data() { return data_; }
  const char* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }
  std::string_view view() const { return {data_, size_}; }

  void clear() { size_ = 0; }

  // Sets the size; bytes beyond the former size are indeterminate.
  void resize(std::size_t size) {
    if (size > capacity_) grow(size);
    size_ = size;
  }

  void append(const char* bytes, std::size_t n) {
    if (n == 0) return;
    if (n > capacity_ - size_) grow(size_ + n);
    std::memcpy(data_ + size_, bytes, n);
    size_ += n;
  }

 private:
  void grow(std::size_t needed) {
    const std::size_t capacity = needed > 2 * capacity_ ? needed : 2 * capacity_;
    char* data = static_cast<char*>(std::realloc(data_, capacity));
    if (data == nullptr) throw std::bad_alloc();
    data_ = data;
    capacity_ = capacity;
  }
  void swap(CharBuffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

  char* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace biogpu::io
