#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

namespace biogpu::gpu {

// Throws DeviceError{out_of_memory} with the bytes asked for and free. 0 bytes give nullptr.
void* allocate_device(std::size_t bytes);
void free_device(void* memory) noexcept;
// Throws PinnedMemoryError where the host has no memory for it. 0 bytes give nullptr.
void* allocate_pinned(std::size_t bytes);
void free_pinned(void* memory) noexcept;

namespace detail {
struct DeviceMemory {
  static void* allocate(std::size_t bytes) { return allocate_device(bytes); }
  static void release(void* memory) noexcept { free_device(memory); }
};
struct PinnedMemory {
  static void* allocate(std::size_t bytes) { return allocate_pinned(bytes); }
  static void release(void* memory) noexcept { free_pinned(memory); }
};

// Owns n elements of T, uninitialised. Move only.
template <class T, class Memory>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Buffer() = default;
  explicit Buffer(std::size_t n)
      : data_(static_cast<T*>(Memory::allocate(n * sizeof(T)))), size_(n) {}
  ~Buffer() { Memory::release(data_); }
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    swap(other);
    return *this;
  }

  T* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::size_t bytes() const { return size_ * sizeof(T); }

  // Room for n elements; the content is lost when it has to grow. Frees the old memory first, so
  // that growing needs no more than the new size.
  void reserve(std::size_t n) {
    if (n <= size_) return;
    *this = Buffer();
    *this = Buffer(n);
  }

 private:
  void swap(Buffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }
  T* data_ = nullptr;
  std::size_t size_ = 0;
};
}  // namespace detail

// Memory of the current device: not to be dereferenced on the host.
template <class T>
using DeviceBuffer = detail::Buffer<T, detail::DeviceMemory>;

// Host memory that copies run from and to asynchronously and at full speed.
template <class T>
using PinnedBuffer = detail::Buffer<T, detail::PinnedMemory>;

// Cuts one device allocation into pieces that live until the next reset(): the workspace of a
// batch.
class Arena {
 public:
  Arena() = default;
  explicit Arena(std::size_t bytes) : memory_(bytes) {}

  // n elements aligned to 256 bytes; nullptr when the rest is too small.
  template <class T>
  T* take(std::size_t n) {
    const std::size_t begin = (used_ + kAlignment - 1) / kAlignment * kAlignment;
    if (begin > memory_.size() || n > (memory_.size() - begin) / sizeof(T)) return nullptr;
    used_ = begin + n * sizeof(T);
    return reinterpret_cast<T*>(memory_.data() + begin);
  }
  void reset() { used_ = 0; }
  std::size_t used_bytes() const { return used_; }
  std::size_t capacity_bytes() const { return memory_.size(); }

 private:
  static constexpr std::size_t kAlignment = 256;
  DeviceBuffer<std::uint8_t> memory_;
  std::size_t used_ = 0;
};

}  // namespace biogpu::gpu
