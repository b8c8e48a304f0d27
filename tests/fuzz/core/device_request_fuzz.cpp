// --device from any text: an Error of usage, or a request that lists each device once.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "lib/core/device.hpp"
#include "lib/core/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n) {
  try {
    auto request = biogpu::parse_device_request({reinterpret_cast<const char*>(bytes), n});
    const bool listed = request.kind == biogpu::DeviceRequest::Kind::listed;
    if (listed == request.indices.empty()) std::abort();
    std::sort(request.indices.begin(), request.indices.end());
    const auto twice = std::adjacent_find(request.indices.begin(), request.indices.end());
    if (twice != request.indices.end()) std::abort();
  } catch (const biogpu::Error& error) {
    if (error.code() != biogpu::ErrorCode::usage) std::abort();
  }
  return 0;
}
