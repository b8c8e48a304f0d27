#pragma once

#include <cstdlib>
#include <string>
#include <vector>

#include "gpu/rt/buffer.hpp"
#include "gpu/rt/device.hpp"
#include "gpu/rt/stream.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/skip.hpp"

namespace biogpu::test {

// Whether a test that needs a GPU can run. Where BIOGPU_REQUIRE_GPU is set its absence is a
// failure.
inline bool has_gpu() {
  std::string why;
  const auto devices = gpu::list_devices(&why);
  const bool found = !devices.empty() && devices[0].why_not.empty();
  if (!devices.empty()) why = devices[0].why_not;
  if (!found && std::getenv("BIOGPU_REQUIRE_GPU") != nullptr) FAIL("a GPU is required: " << why);
  if (!found) {
    WARN("skipped: " << why);
    ++n_skipped;
  }
  return found;
}

// Where a kernel's threads take their turns on the host: tests take smaller sizes.
inline bool is_emulated() { return std::string(gpu::kPlatformName) == "emulated"; }

// Under emulation, the second of the two wave widths: where a test looks at what the host sends and
// fetches, which no width changes, the first one is enough.
inline bool is_second_width() {
  const char* const width = std::getenv("BIOGPU_EMULATED_WAVE");
  return is_emulated() && width != nullptr && std::string(width) == "64";
}

template <class T>
gpu::DeviceBuffer<T> to_device(const std::vector<T>& values, gpu::Stream& stream) {
  gpu::DeviceBuffer<T> buffer(values.size());
  stream.copy_to_device(buffer.data(), values.data(), values.size() * sizeof(T));
  stream.synchronize();
  return buffer;
}

template <class T>
std::vector<T> to_host(const gpu::DeviceBuffer<T>& buffer, gpu::Stream& stream) {
  std::vector<T> values(buffer.size());
  stream.copy_to_host(values.data(), buffer.data(), buffer.bytes());
  stream.synchronize();
  return values;
}

}  // namespace biogpu::test
