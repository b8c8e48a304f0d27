#pragma once

#include <string>

#include "lib/core/cost_model.hpp"
#include "lib/core/device.hpp"

namespace biogpu {

// What is decided for a run: between CPU and GPU where --device says auto, and how many GPUs pay
// for their start in any case.
struct AutoDecision {
  bool worth_gpu = false;
  std::string reason;  // for the log line of the device and the JSON summary
  std::string detail;  // the prediction, for -v; empty where nothing was predicted
  int max_gpus = kAllGpus;
};

// By the rates given.
AutoDecision decide_device(const cost::Machine& machine, const cost::Work& work);
// By the rates of this machine, where the build has a GPU backend. Without reason and detail where
// the request is not `auto`.
AutoDecision decide_device(const DeviceRequest& request, const cost::Work& work);

// As choose_device() above, with the decision's reason where `auto` decided.
DeviceChoice choose_device(const DeviceRequest& request, const AutoDecision& decision);

// Keeps what a run was seen to do for later decisions, where the build has a GPU backend.
void keep_rates_of_run(const cost::Observed& seen) noexcept;

}  // namespace biogpu
