#pragma once

#include <cstddef>
#include <utility>

namespace biogpu::gpu {

class Event;

// An ordered queue of copies and kernels on the device that was current when it was made.
// Not thread-safe. Destruction waits for what is queued.
class Stream {
 public:
  Stream();
  ~Stream();
  Stream(Stream&& other) noexcept { swap(other); }
  Stream& operator=(Stream&& other) noexcept {
    swap(other);
    return *this;
  }

  // Threads of a wave on this device: 32 or 64. Kernels templated on the width are chosen by it.
  int wave_width() const { return wave_width_; }
  int n_multiprocessors() const { return n_multiprocessors_; }

  // Queues kernel<<<n_blocks, n_threads>>>(args...). Defined in gpu/rt/kernel.hpp, for .hip files.
  // n_blocks of 0 is a launch error: callers return early on empty work.
  template <class... Parameters, class... Arguments>
  void launch(void (*kernel)(Parameters...), std::size_t n_blocks, unsigned n_threads,
              Arguments&&... arguments) {
    launch_shared(kernel, n_blocks, n_threads, 0, std::forward<Arguments>(arguments)...);
  }
  // The same with dynamic shared memory, raised above the default limit where the device allows.
  template <class... Parameters, class... Arguments>
  void launch_shared(void (*kernel)(Parameters...), std::size_t n_blocks, unsigned n_threads,
                     std::size_t shared_bytes, Arguments&&... arguments);

  void copy_to_device(void* device, const void* host, std::size_t bytes);
  void copy_to_host(void* host, const void* device, std::size_t bytes);
  void copy_on_device(void* to, const void* from, std::size_t bytes);
  void fill(void* device, int byte, std::size_t bytes);

  void wait_for(const Event& event);
  void synchronize();

  // The platform's handle (hipStream_t); for .hip files and gpu/prim.
  void* handle() const { return handle_; }

 private:
  void swap(Stream& other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(wave_width_, other.wave_width_);
    std::swap(n_multiprocessors_, other.n_multiprocessors_);
  }
  void* handle_ = nullptr;
  int wave_width_ = 0;
  int n_multiprocessors_ = 0;
};

// A point in a stream's work.
class Event {
 public:
  Event();
  ~Event();
  Event(Event&& other) noexcept { std::swap(handle_, other.handle_); }
  Event& operator=(Event&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }

  void record(Stream& stream);
  void synchronize() const;
  bool is_reached() const;
  // Device time between two recorded and reached events.
  double seconds_since(const Event& start) const;
  void* handle() const { return handle_; }

 private:
  void* handle_ = nullptr;
};

}  // namespace biogpu::gpu
