#include "apps/biogpu/infer/dna_run.hpp"

#include <fmt/format.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <future>
#include <utility>

#include "apps/biogpu/auto_work.hpp"
#include "lib/core/auto_device.hpp"
#include "lib/core/error.hpp"
#include "lib/core/stage_times.hpp"
#include "lib/ops/conv_weights.hpp"
#include "lib/ops/cpu/cpu_context.hpp"

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
  work.task = cost::Task::infer;
  work.n_threads = flags.shared.threads;
  std::error_code no_folder;
  for (const auto& file : std::filesystem::directory_iterator(flags.model, no_folder))
    if (file.path().extension() == ".safetensors")
      work.bytes += static_cast<double>(file.file_size());
  work.units =
      work.bytes * std::max(inputs.bytes, static_cast<double>(kCpuBases)) / kBasesPerProduct;
  return decide_device(cost::default_machine(), work);
}

}  // namespace

DnaRun::DnaRun(DnaFlags flags, std::string name, std::string command_line,
               const models::LoadOptions::ChooseHeads& choose)
    : flags_(std::move(flags)),
      run_(checked_flags(flags_), std::move(name), std::move(command_line)) {
  const StageClock clock("load", run_.flags().shared.threads);
  open_contexts();
  load(choose);
  run_.add_stage(clock.stop(0));
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

void DnaRun::open_contexts() {
  const InferFlags& flags = run_.flags();
  tensor::ContextOptions options;
  options.n_threads = flags.shared.threads;
  options.max_device_bytes = flags.shared.max_device_memory;
  options.precision = parse_precision(flags.precision, true);
  run_.open_devices(
      decide_dna(flags),
      [&](int gpu) { contexts_.push_back(tensor::make_gpu_context(gpu, options)); },
      [&] { contexts_.clear(); });
  if (contexts_.empty()) contexts_.push_back(ops::make_cpu_context(options.n_threads));
  if (run_.device().on_gpu()) precision_ = options.precision;
}

// Side by side for all devices. Each has a thread of its own, for which its device is the current
// one.
void DnaRun::load(const models::LoadOptions::ChooseHeads& choose) {
  const int n_threads =
      std::max(1, run_.flags().shared.threads / static_cast<int>(contexts_.size()));
  models::LoadOptions options;
  options.choose_heads = choose;
  if (flags_.gamma != "auto") options.gamma = flags_.gamma;
  const auto load_one = [&](tensor::Context& context) {
    tbb::task_arena threads(n_threads);
    return threads.execute([&] {
      return models::load_model<models::DnaModel>(run_.flags().model, run_.task(), context,
                                                  options);
    });
  };
  std::vector<std::future<std::unique_ptr<models::DnaModel>>> loads;
  for (const auto& context : contexts_)
    loads.push_back(std::async(std::launch::async, load_one, std::ref(*context)));
  for (auto& loaded : loads) {
    models_.push_back(loaded.get());
    free_models_.push_back(models_.back().get());
  }
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

void DnaRun::require_finite(std::size_t slot, const pipeline::BatchResult& result) const {
  const std::vector<io::NamedArray>& arrays = result.arrays;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const io::Values& values = arrays[i].values;
    if (std::all_of(values.begin(), values.end(), [](float x) { return std::isfinite(x); }))
      continue;
    const char* const hint = precision_ == tensor::Precision::fp16
                                 ? "try --precision bf16, whose range is that of fp32"
                                 : "look at the weights";
    // The arrays of a window lie next to each other, as many for each.
    const std::size_t window = i * input_.windows(slot).size() / arrays.size();
    throw Error(ErrorCode::failed, fmt::format("{}: the result is NaN or infinite; {}",
                                               input_.place(slot, window), hint));
  }
}

void DnaRun::compute(std::size_t slot, const tasks::TrackOptions& options,
                     pipeline::BatchResult& result) {
  models::DnaModel* model = nullptr;
  {
    const std::lock_guard lock(mutex_);
    model = free_models_.back();  // as many models as workers
    free_models_.pop_back();
  }
  tasks::compute_tracks(*model, input_.windows(slot), options, result);
  {
    const std::lock_guard lock(mutex_);
    free_models_.push_back(model);
  }
  require_finite(slot, result);
}

void DnaRun::run(tasks::TrackOptions options,
                 const std::function<void(const pipeline::BatchResult& result)>& write) {
  n_per_pass_ = options.windows_per_pass = windows_per_pass(options.request);
  input_.set_batch(n_per_pass_);
  run_.run(input_, {static_cast<int>(models_.size()), name_of(precision_),
                    [&](std::size_t slot, pipeline::BatchResult& result) {
                      compute(slot, options, result);
                    },
                    write});
  if (run_.n_records() == 0) run_.log().warn("the input has no window; the output is empty");
}

void DnaRun::finish(std::uint64_t output_bytes, const std::function<void()>& name_outputs) {
  ModelRun::Report report;
  for (const auto& model : models_) {
    report.gpu_s += model->device_seconds();
    report.peak_device_bytes = std::max(report.peak_device_bytes, model->peak_device_bytes());
  }
  report.result = {{"model",
                    {{"architecture", info().architecture},
                     {"window", info().window},
                     {"bin_size", info().bin_size},
                     {"bins", info().n_bins},
                     {"parameters", info().n_parameters}}},
                   {"precision", name_of(precision_)},
                   {"windows_per_pass", n_per_pass_},
                   {"windows", run_.n_records()}};
  for (const auto& [choice, value] : info().choices) report.result["model"][choice] = value;
  run_.finish(output_bytes, report, name_outputs);
}

}  // namespace biogpu::app
