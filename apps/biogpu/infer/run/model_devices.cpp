#include "apps/biogpu/infer/run/model_devices.hpp"

#include <fmt/format.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <future>
#include <utility>

#include "apps/biogpu/run/cost_tasks.hpp"
#include "lib/core/error.hpp"
#include "lib/core/parallel_for.hpp"
#include "lib/core/stage_times.hpp"
#include "lib/ops/cpu/cpu_context.hpp"
#include "lib/ops/reference_context.hpp"

namespace biogpu::app {

std::uint64_t weight_bytes(const std::string& folder) {
  std::error_code error;
  std::uint64_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    if (entry.path().extension() == ".safetensors") bytes += entry.file_size(error);
  return bytes;
}

double file_bytes(const std::vector<std::string>& paths) {
  cost::Work inputs;
  for (const std::string& path : paths)
    if (path != "-") add_file(inputs, path);
  return inputs.bytes;
}

AutoDecision decide_model(const InferFlags& flags, double n_products, int max_gpus) {
  cost::Work work;
  work.task = &works::kInfer;
  work.n_threads = flags.shared.threads;
  work.bytes = static_cast<double>(weight_bytes(flags.model));
  work.units = work.bytes * n_products;
  AutoDecision decision = decide_device(cost::Machine{}, work);
  decision.max_gpus = std::min(decision.max_gpus, max_gpus);
  return decision;
}

std::uint64_t largest_batch(const ModelRun& run, std::uint64_t most, std::uint64_t least,
                            const std::function<std::size_t(std::uint64_t n)>& measure) {
  const SharedFlags& shared = run.flags().shared;
  const std::uint64_t bound = run.device().on_gpu() ? shared.max_device_memory : shared.max_memory;
  while (bound > 0 && most > least && measure(most) > bound) most /= 2;
  return most;
}

ModelDevices::ModelDevices(ModelRun& run, const AutoDecision& decision,
                           models::LoadOptions options) {
  options.values = run.model_options();
  const StageClock clock("load", run.flags().shared.threads);
  open_contexts(run, decision);
  load(run, options);
  run.add_stage(clock.stop(weight_bytes(run.flags().model)));
}

// The reference operations, which compute in double precision.
void ModelDevices::open_fp64(ModelRun& run) {
  run.open_devices(
      {false, "double precision", ""},
      [](int) {
        throw Error(ErrorCode::usage, "--precision fp64 is computed on the CPU; give --device cpu");
      },
      [] {});
  contexts_.push_back(ops::make_reference_context());
  is_fp64_ = true;
}

void ModelDevices::open_contexts(ModelRun& run, const AutoDecision& decision) {
  if (run.flags().precision == "fp64") return open_fp64(run);
  tensor::ContextOptions options;
  options.n_threads = run.flags().shared.threads;
  options.max_device_bytes = run.flags().shared.max_device_memory;
  const std::string& folder = run.flags().model;
  run.open_devices(
      decision,
      [&](int gpu) {
        options.precision =
            run.flags().precision == "auto"
                ? models::require_task(models::ModelConfig(folder), run.task()).gpu_precision
                : parse_precision(run.flags().precision, true);
        contexts_.push_back(tensor::make_gpu_context(gpu, options));
      },
      [&] { contexts_.clear(); });
  if (contexts_.empty()) {
    contexts_.push_back(ops::make_cpu_context(options.n_threads));
    const std::string& asked = run.flags().precision;
    if (asked != "auto" && asked != "fp32")
      run.log().warn(fmt::format("--precision {}: the CPU computes in fp32", asked));
  }
  if (run.device().on_gpu()) precision_ = options.precision;
}

// For all devices at once, a thread for each, whose current device it is.
void ModelDevices::load(const ModelRun& run, const models::LoadOptions& options) {
  const int n_threads =
      std::max(1, run.flags().shared.threads / static_cast<int>(contexts_.size()));
  const auto load = [&](tensor::Context& context) {
    tbb::task_arena threads(arena_threads(static_cast<std::size_t>(n_threads)));
    return threads.execute([&] {
      return models::load_model<models::Model>(run.flags().model, run.task(), context, options);
    });
  };
  std::vector<std::future<std::unique_ptr<models::Model>>> loads;
  for (const auto& context : contexts_)
    loads.push_back(std::async(std::launch::async, load, std::ref(*context)));
  for (auto& loaded : loads) models_.add(loaded.get());
}

void ModelDevices::fail_not_finite(const std::string& place) const {
  const char* const hint = precision_ == tensor::Precision::fp16
                               ? "try --precision bf16, whose range is that of fp32"
                               : "look at the weights";
  throw Error(ErrorCode::failed, fmt::format("{}: the result is NaN or infinite; {}", place, hint));
}

ModelRun::Report ModelDevices::report(nlohmann::ordered_json result) const {
  ModelRun::Report report;
  report.result = std::move(result);
  for (const auto& model : models_.all()) {
    report.gpu_s += model->device_seconds();
    report.peak_device_bytes = std::max(report.peak_device_bytes, model->peak_device_bytes());
  }
  return report;
}

}  // namespace biogpu::app
