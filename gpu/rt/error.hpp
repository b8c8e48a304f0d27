#pragma once

#include <cstddef>
#include <memory>
#include <new>
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

// The host has no memory left that a device could copy from. Like any lack of host memory it is a
// bad_alloc: a smaller batch on the device is no answer to it.
class PinnedMemoryError : public std::bad_alloc {
 public:
  explicit PinnedMemoryError(std::size_t bytes)
      : what_(std::make_shared<const std::string>(
            std::to_string(bytes) + " bytes of pinned host memory are not to be had")) {}
  const char* what() const noexcept override { return what_->c_str(); }

 private:
  std::shared_ptr<const std::string> what_;  // shared: copying an exception must not throw
};

}  // namespace biogpu::gpu
