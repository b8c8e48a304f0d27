#include "lib/core/auto_device.hpp"

#include <fmt/format.h>

#include "lib/core/gpu_backend.hpp"
#include "lib/core/rate_cache.hpp"

namespace biogpu {
namespace {

// Emulated devices start at once, and tests name as many as they want to see used.
int max_gpus(const cost::Prediction& predicted) {
  return gpu_backend_name() == "emulated" ? kAllGpus : predicted.n_gpus;
}

// Puts the decision's reason in place of that of choose_device().
void explain(DeviceChoice& choice, const DeviceRequest& request, const AutoDecision& decision) {
  // A GPU that is worth its start and cannot be used has a better reason.
  const bool decided = request.kind == DeviceRequest::Kind::automatic && has_gpu_backend() &&
                       !decision.reason.empty();
  if (!decided || choice.on_gpu() != decision.worth_gpu) return;
  choice.reason = decision.reason;
  tell_unused(choice);
}

}  // namespace

AutoDecision decide_device(const cost::Machine& machine, const cost::Work& work) {
  const cost::Prediction predicted = cost::predict(machine, work);
  AutoDecision decision;
  decision.worth_gpu = predicted.takes_gpu();
  decision.max_gpus = max_gpus(predicted);
  decision.detail =
      fmt::format("auto: {:.3f} s predicted on the CPU (limit: {}), {:.3f} s on a GPU (limit: {})",
                  predicted.cpu_s, predicted.cpu_limit, predicted.gpu_s, predicted.gpu_limit);
  if (decision.worth_gpu)
    decision.reason = "found and worth its start";
  else if (predicted.cpu_s < machine.start_s)
    decision.reason = "the input is too small to pay for a GPU";
  else
    decision.reason = fmt::format("no slower than a GPU: {} decides", predicted.gpu_limit);
  return decision;
}

AutoDecision decide_device(const DeviceRequest& request, const cost::Work& work) {
  if (request.kind == DeviceRequest::Kind::cpu || !has_gpu_backend()) return {};
  AutoDecision decision = decide_device(cost::load_rates(), work);
  if (request.kind != DeviceRequest::Kind::automatic) decision.reason = decision.detail = "";
  return decision;
}

DeviceChoice choose_device(const DeviceRequest& request, const AutoDecision& decision) {
  DeviceChoice choice = choose_device(request, decision.worth_gpu, decision.max_gpus);
  explain(choice, request, decision);
  return choice;
}

void keep_rates_of_run(const cost::Observed& seen) noexcept {
  try {
    if (has_gpu_backend()) cost::keep_rates(seen);
  } catch (...) {
    // No memory to look for one.
  }
}

}  // namespace biogpu
