// Streams, events and memory: thin owners of the runtime's handles.
#include "gpu/rt/stream.hpp"

#include <map>
#include <mutex>
#include <utility>

#include "gpu/rt/buffer.hpp"
#include "gpu/rt/check.hpp"
#include "gpu/rt/device.hpp"
#include "gpu/rt/error.hpp"
#include "gpu/rt/kernel.hpp"

namespace biogpu::gpu {
namespace {
hipStream_t as_stream(void* handle) { return static_cast<hipStream_t>(handle); }
hipEvent_t as_event(void* handle) { return static_cast<hipEvent_t>(handle); }
}  // namespace

// NVIDIA's default limit counts a kernel's static shared memory too, which is not known here: so
// the limit is set for small sizes as well.
void allow_shared(const void* kernel, std::size_t bytes) {
  static std::mutex mutex;
  static std::map<std::pair<const void*, int>, std::size_t> allowed;
  const std::lock_guard lock(mutex);
  std::size_t& most = allowed[{kernel, current_device()}];
  if (bytes <= most) return;
  BIOGPU_HIP(hipFuncSetAttribute(kernel, hipFuncAttributeMaxDynamicSharedMemorySize,
                                 static_cast<int>(bytes)));
  most = bytes;
}

void* allocate_device(std::size_t bytes) {
  if (bytes == 0) return nullptr;
  void* memory = nullptr;
  check_hip(hipMalloc(&memory, bytes), "hipMalloc", bytes);
  return memory;
}

void free_device(void* memory) noexcept {
  if (memory != nullptr) (void)hipFree(memory);
}

void* allocate_pinned(std::size_t bytes) {
  if (bytes == 0) return nullptr;
  void* memory = nullptr;
  const hipError_t error = hipHostMalloc(&memory, bytes, hipHostMallocDefault);
  if (error == hipErrorOutOfMemory) {
    (void)hipGetLastError();
    throw PinnedMemoryError(bytes);
  }
  check_hip(error, "hipHostMalloc", bytes);
  return memory;
}

void free_pinned(void* memory) noexcept {
  if (memory != nullptr) (void)hipHostFree(memory);
}

Stream::Stream() {
  const DeviceProperties device = device_properties(current_device());
  wave_width_ = device.wave_width;
  n_multiprocessors_ = device.n_multiprocessors;
  hipStream_t stream = nullptr;
  BIOGPU_HIP(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
  handle_ = stream;
}

Stream::~Stream() {
  if (handle_ == nullptr) return;
  (void)hipStreamSynchronize(as_stream(handle_));
  (void)hipStreamDestroy(as_stream(handle_));
}

void Stream::copy_to_device(void* device, const void* host, std::size_t bytes) {
  BIOGPU_HIP(hipMemcpyAsync(device, host, bytes, hipMemcpyHostToDevice, as_stream(handle_)));
}

void Stream::copy_to_host(void* host, const void* device, std::size_t bytes) {
  BIOGPU_HIP(hipMemcpyAsync(host, device, bytes, hipMemcpyDeviceToHost, as_stream(handle_)));
}

void Stream::copy_on_device(void* to, const void* from, std::size_t bytes) {
  BIOGPU_HIP(hipMemcpyAsync(to, from, bytes, hipMemcpyDeviceToDevice, as_stream(handle_)));
}

void Stream::fill(void* device, int byte, std::size_t bytes) {
  BIOGPU_HIP(hipMemsetAsync(device, byte, bytes, as_stream(handle_)));
}

void Stream::wait_for(const Event& event) {
  BIOGPU_HIP(hipStreamWaitEvent(as_stream(handle_), as_event(event.handle()), 0));
}

void Stream::synchronize() { BIOGPU_HIP(hipStreamSynchronize(as_stream(handle_))); }

Event::Event() {
  hipEvent_t event = nullptr;
  BIOGPU_HIP(hipEventCreateWithFlags(&event, hipEventDefault));
  handle_ = event;
}

Event::~Event() {
  if (handle_ != nullptr) (void)hipEventDestroy(as_event(handle_));
}

void Event::record(Stream& stream) {
  BIOGPU_HIP(hipEventRecord(as_event(handle_), as_stream(stream.handle())));
}

void Event::synchronize() const { BIOGPU_HIP(hipEventSynchronize(as_event(handle_))); }

bool Event::is_reached() const {
  const hipError_t status = hipEventQuery(as_event(handle_));
  if (status == hipErrorNotReady) {
    (void)hipGetLastError();  // it is remembered like an error
    return false;
  }
  check_hip(status, "hipEventQuery");
  return true;
}

double Event::seconds_since(const Event& start) const {
  float milliseconds = 0;
  BIOGPU_HIP(hipEventElapsedTime(&milliseconds, as_event(start.handle_), as_event(handle_)));
  return milliseconds * 1e-3;
}

}  // namespace biogpu::gpu
