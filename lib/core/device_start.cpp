#include "lib/core/device_start.hpp"

#include "lib/core/timed.hpp"

namespace biogpu {

DeviceStart::DeviceStart(const DeviceRequest& request, const AutoDecision& decision) {
  using Kind = DeviceRequest::Kind;
  const bool asks_driver =
      request.kind != Kind::cpu && (request.kind != Kind::automatic || decision.worth_gpu);
  choice_ = std::async(asks_driver ? std::launch::async : std::launch::deferred,
                       [this, request, decision] {
                         return timed(seconds_, [&] { return choose_device(request, decision); });
                       });
}

DeviceChoice DeviceStart::get() { return choice_.get(); }

}  // namespace biogpu
