#pragma once

#include <future>
#include <string>
#include <vector>

#include "lib/core/auto_device.hpp"
#include "lib/core/device.hpp"
#include "lib/core/stage_times.hpp"

namespace biogpu {

// As list_devices(), without contexts on devices where the backend can do without: a tenth of the
// time. A device that it calls usable may still fail when it is opened, as when another process
// holds it.
std::vector<DeviceInfo> describe_devices(std::string* why);

// What starting devices has cost this process so far, by part: the module of the backend, the
// driver with what it tells of devices, contexts with a first kernel. Parts without any are left
// out. Any thread.
std::vector<StageTimes> device_start_stages();

// Chooses devices and opens them, in a separate thread where a driver is asked: the caller reads
// its input meanwhile.
class DeviceStart {
 public:
  DeviceStart(const DeviceRequest& request, const AutoDecision& decision);
  DeviceStart(const DeviceStart&) = delete;
  DeviceStart& operator=(const DeviceStart&) = delete;

  // Waits until they are open. Throws what choose_device() throws.
  DeviceChoice get();
  // That it took, waited for or not. After get().
  double seconds() const { return seconds_; }

 private:
  double seconds_ = 0;
  std::future<DeviceChoice> choice_;  // the last: it ends before what it works on
};

}  // namespace biogpu
