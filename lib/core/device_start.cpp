#include "lib/core/device_start.hpp"

#include "lib/core/gpu_backend.hpp"
#include "lib/core/timed.hpp"

namespace biogpu {

DeviceStart::DeviceStart(const DeviceRequest& request, const AutoDecision& decision) {
  using Kind = DeviceRequest::Kind;
  const bool asks_driver =
      request.kind != Kind::cpu && (request.kind != Kind::automatic || decision.worth_gpu);
  const auto choose = [this, request, decision] {
    return timed(seconds_, [&] { return choose_device(request, decision); });
  };
  choice_ = asks_driver ? async_with_backend(choose) : std::async(std::launch::deferred, choose);
}

DeviceChoice DeviceStart::get() { return choice_.get(); }

}  // namespace biogpu
