#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>

namespace biogpu {

// For memory of malloc(), aligned_alloc() and C libraries that use them.
struct FreeMemory {
  void operator()(void* memory) const { std::free(memory); }
};
template <class T>
using MallocPtr = std::unique_ptr<T, FreeMemory>;

// Uninitialised; `alignment` is a power of two. Throws std::bad_alloc.
inline MallocPtr<void> allocate_aligned(std::size_t alignment, std::size_t bytes) {
  MallocPtr<void> memory(
      std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment));
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

// Memory for vectors: aligned to a cache line, grown and never shrunk, contents lost on growth.
class AlignedBuffer {
 public:
  template <class T>
  T* get(std::size_t n) {
    const std::size_t bytes = n * sizeof(T);
    if (bytes > bytes_) {
      data_.reset();
      bytes_ = 0;
      const std::size_t with_reserve = (bytes + bytes / 4 + 127) / 64 * 64;
      data_ = allocate_aligned(64, with_reserve);
      bytes_ = with_reserve;
    }
    return static_cast<T*>(data_.get());
  }

 private:
  MallocPtr<void> data_;
  std::size_t bytes_ = 0;
};

}  // namespace biogpu
