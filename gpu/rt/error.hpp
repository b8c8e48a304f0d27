#pragma once

#include <stdexcept>
#include <string>

namespace biogpu::gpu {

// A failed call of the GPU runtime. what() names the call, the device, the reason and the remedy.
class DeviceError : public std::runtime_error {
 public:
  enum class Kind {
    failed,         // any other failure: a defect of ours or of the device
    unavailable,    // no driver, no device, or one that this build has no code for
    out_of_memory,  // the message says how much was asked for and what was free
  };
  DeviceError(Kind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  Kind kind() const { return kind_; }

 private:
  Kind kind_;
};

}  // namespace biogpu::gpu
