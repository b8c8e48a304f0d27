#include "apps/biogpu/infer/dna_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "apps/biogpu/auto_work.hpp"
#include "apps/biogpu/cost_tasks.hpp"
#include "lib/core/auto_device.hpp"
#include "lib/ops/conv_weights.hpp"

namespace biogpu::app {
namespace {

// Bases of a pass, in whole windows: more do not make a pass of the published models faster.
constexpr std::int64_t kCpuBases = 196608;
constexpr std::int64_t kGpuBases = 2 * 196608;

// A pipe and regions are taken for a window of the published models.
AutoDecision decide_dna(const InferFlags& flags) {
  // Over a tower of convolutions a weight is multiplied once for so many bases.
  constexpr double kBasesPerProduct = 30;
  cost::Work inputs;
  for (const std::string& path : flags.inputs)
    if (path != "-") add_file(inputs, path);
  cost::Work work;
  work.task = &works::kInfer;
  work.n_threads = flags.shared.threads;
  work.bytes = static_cast<double>(weight_bytes(flags.model));
  work.units =
      work.bytes * std::max(inputs.bytes, static_cast<double>(kCpuBases)) / kBasesPerProduct;
  return decide_device(cost::Machine{}, work);
}

models::LoadOptions load_options(const DnaFlags& flags,
                                 const models::LoadOptions::ChooseHeads& choose) {
  models::LoadOptions options;
  options.choose_heads = choose;
  if (flags.gamma != "auto") options.gamma = flags.gamma;
  return options;
}

}  // namespace

DnaRun::DnaRun(DnaFlags flags, std::string name, std::string command_line,
               const models::LoadOptions::ChooseHeads& choose)
    : flags_(std::move(flags)),
      run_(checked_flags(flags_), std::move(name), std::move(command_line)),
      devices_(run_, decide_dna(run_.flags()), load_options(flags_, choose)) {
  input_.open(open_windows(flags_, run_.flags(), info().window),
              flags_.n_value == "0.25" ? ops::kLetterQuarters : ops::kLetterZero);
  if (!info().warning.empty())
    run_.log().warn(fmt::format("{}: {}", run_.flags().model, info().warning));
  for (const auto& [choice, value] : info().choices)
    run_.log().detail(fmt::format("{}: {} {}", run_.flags().model, choice, value));
  run_.log().detail(fmt::format("{}: {}, windows of {} bases, {} bins of {}, on {}",
                                run_.flags().model, info().architecture, info().window,
                                info().n_bins, info().bin_size, run_.device().name));
}

std::int64_t DnaRun::windows_per_pass(const models::DnaModel::Request& request) const {
  const SharedFlags& shared = run_.flags().shared;
  const bool on_gpu = run_.device().on_gpu();
  std::int64_t n = shared.batch > 0 ? static_cast<std::int64_t>(shared.batch)
                                    : (on_gpu ? kGpuBases : kCpuBases) / info().window;
  // Rows are numbered by 32 bits.
  n = std::clamp<std::int64_t>(n, 1, (std::int64_t{1} << 30) / info().window);
  const std::uint64_t bound = on_gpu ? shared.max_device_memory : shared.max_memory;
  while (bound > 0 && n > 1 && model().measure(n, request) > bound) n /= 2;
  return n;
}

void DnaRun::compute(std::size_t slot, const tasks::TrackOptions& options,
                     pipeline::BatchResult& result) {
  const tasks::DnaWindows& windows = input_.windows(slot);
  devices_.use<models::DnaModel>(
      [&](models::DnaModel& model) { tasks::compute_tracks(model, windows, options, result); });
  // The arrays of a window lie next to each other, as many for each.
  const std::vector<io::NamedArray>& arrays = result.arrays;
  for (std::size_t i = 0; i < arrays.size(); ++i)
    devices_.require_finite(arrays[i].values,
                            input_.place(slot, i * windows.size() / arrays.size()));
}

void DnaRun::run(tasks::TrackOptions options,
                 const std::function<void(const pipeline::BatchResult& result)>& write) {
  n_per_pass_ = options.windows_per_pass = windows_per_pass(options.request);
  input_.set_batch(n_per_pass_);
  run_.run(input_, {devices_.size(), name_of(devices_.precision()),
                    [&](std::size_t slot, pipeline::BatchResult& result) {
                      compute(slot, options, result);
                    },
                    write});
  if (run_.n_records() == 0) run_.log().warn("the input has no window; the output is empty");
}

void DnaRun::finish(std::uint64_t output_bytes, const std::function<void()>& name_outputs) {
  nlohmann::ordered_json model = {{"architecture", info().architecture},
                                  {"window", info().window},
                                  {"bin_size", info().bin_size},
                                  {"bins", info().n_bins},
                                  {"parameters", info().n_parameters}};
  for (const auto& [choice, value] : info().choices) model[choice] = value;
  run_.finish(output_bytes,
              devices_.report({{"model", model},
                               {"precision", name_of(devices_.precision())},
                               {"windows_per_pass", n_per_pass_},
                               {"windows", run_.n_records()}}),
              name_outputs);
}

}  // namespace biogpu::app
