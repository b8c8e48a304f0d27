#pragma once

#include <span>
#include <type_traits>

#include "gpu/rt/buffer.hpp"
#include "gpu/rt/stream.hpp"

// Copies of values between host and device, in the order of a stream.
namespace biogpu::gpu {

// Queues that `to` becomes `from`, which has to stay until the stream is there.
template <class T>
void upload(Stream& stream, DeviceBuffer<T>& to, std::type_identity_t<std::span<const T>> from) {
  to.reserve(from.size());
  if (!from.empty()) stream.copy_to_device(to.data(), from.data(), from.size_bytes());
}

// Fills `to` with what the work queued so far leaves on the device; waits for it.
template <class T>
void download(Stream& stream, std::type_identity_t<std::span<T>> to, const T* from) {
  stream.copy_to_host(to.data(), from, to.size_bytes());
  stream.synchronize();
}
template <class T>
T download(Stream& stream, const T* from) {
  T value;
  stream.copy_to_host(&value, from, sizeof value);
  stream.synchronize();
  return value;
}

}  // namespace biogpu::gpu
