#include "apps/biogpu/infer/run.hpp"

#include <fmt/format.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <future>
#include <utility>

#include "apps/biogpu/auto_work.hpp"
#include "lib/core/auto_device.hpp"
#include "lib/core/error.hpp"
#include "lib/core/stage_times.hpp"
#include "lib/models/registry.hpp"
#include "lib/ops/cpu/cpu_context.hpp"

namespace biogpu::app {
namespace {

// Tokens of a pass: on a CPU, what the caches hold well; on a GPU, whole rounds of its processors
// (docs/design/infer.md).
constexpr std::int64_t kCpuTokens = 2048;
constexpr std::int64_t kGpuTokens = 16896;

std::uint64_t weight_bytes(const std::string& folder) {
  std::error_code error;
  std::uint64_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    if (entry.path().extension() == ".safetensors") bytes += entry.file_size(error);
  return bytes;
}

// Letters are taken for tokens, and a pipe for a long one. Results of two devices may differ in
// their last digits: what decides is the same on every machine, and not what earlier runs have
// left.
AutoDecision decide(const InferFlags& flags) {
  constexpr double kTokensOfPipe = 1e6;
  cost::Work inputs;
  bool all_files = !flags.inputs.empty();
  for (const std::string& path : flags.inputs) {
    all_files = all_files && path != "-";
    add_file(inputs, path);
  }
  cost::Work work;
  work.task = cost::Task::infer;
  work.n_threads = flags.shared.threads;
  work.bytes = static_cast<double>(weight_bytes(flags.model));
  work.units = work.bytes * (all_files ? inputs.bytes : kTokensOfPipe);
  return decide_device(cost::default_machine(), work);
}

// Nothing given is standard input.
InferFlags with_input(InferFlags flags) {
  if (flags.inputs.empty()) flags.inputs.emplace_back("-");
  return flags;
}

}  // namespace

InferRun::InferRun(InferFlags flags, std::string name, std::string command_line)
    : run_(with_input(std::move(flags)), std::move(name), std::move(command_line)),
      input_(run_.flags()) {
  const StageClock load("load", run_.flags().shared.threads);
  open_contexts();
  load_weights();
  run_.add_stage(load.stop(weight_bytes(run_.flags().model)));
  run_.log().detail(fmt::format("{}: {}, {} layers of {}, on {}", run_.flags().model,
                                info().architecture, info().n_layers, info().d_model,
                                run_.device().name));
  choose_budget();
}

void InferRun::open_contexts() {
  const InferFlags& flags = run_.flags();
  tensor::ContextOptions options;
  options.n_threads = flags.shared.threads;
  options.max_device_bytes = flags.shared.max_device_memory;
  options.precision = parse_precision(flags.precision, true);
  run_.open_devices(
      decide(flags), [&](int gpu) { contexts_.push_back(tensor::make_gpu_context(gpu, options)); },
      [&] { contexts_.clear(); });
  if (contexts_.empty()) contexts_.push_back(ops::make_cpu_context(options.n_threads));
  if (run_.device().on_gpu()) precision_ = options.precision;
}

// Side by side for all devices. Each has a thread of its own, for which its device is the current
// one.
void InferRun::load_weights() {
  const int n_threads =
      std::max(1, run_.flags().shared.threads / static_cast<int>(contexts_.size()));
  const auto load = [&](tensor::Context& context) {
    tbb::task_arena threads(n_threads);
    return threads.execute([&] {
      return models::load_model<models::ProteinModel>(run_.flags().model, run_.task(), context,
                                                      {.keep_rare = run_.flags().keep_rare});
    });
  };
  std::vector<std::future<std::unique_ptr<models::ProteinModel>>> loads;
  for (const auto& context : contexts_)
    loads.push_back(std::async(std::launch::async, load, std::ref(*context)));
  for (auto& loaded : loads) {
    models_.push_back(loaded.get());
    free_models_.push_back(models_.back().get());
  }
}

void InferRun::choose_budget() {
  const SharedFlags& shared = run_.flags().shared;
  const bool on_gpu = run_.device().on_gpu();
  const std::int64_t most = on_gpu ? kGpuTokens : kCpuTokens;
  budget_tokens_ = shared.batch > 0 ? static_cast<std::int64_t>(shared.batch) : most;
  const std::uint64_t bound = on_gpu ? shared.max_device_memory : shared.max_memory;
  const std::vector<std::string> outputs{
      models::hidden_of_residues(static_cast<int>(info().n_layers))};
  while (bound > 0 && budget_tokens_ > 64 &&
         models_.front()->measure(budget_tokens_, outputs) > bound)
    budget_tokens_ /= 2;
  input_.set_budget(budget_tokens_);
}

models::TokenizeOptions InferRun::tokenize_options() const {
  return {run_.flags().allow_unknown, info().max_residues, run_.flags().truncate};
}

void InferRun::fail_not_finite(const std::string& place) const {
  const char* const hint = precision_ == tensor::Precision::fp16
                               ? "try --precision bf16, whose range is that of fp32"
                               : "look at the weights";
  throw Error(ErrorCode::failed, fmt::format("{}: the result is NaN or infinite; {}", place, hint));
}

void InferRun::compute(std::size_t slot, const Compute& compute, pipeline::BatchResult& result) {
  Records records = input_.records(slot, info().vocabulary, tokenize_options(), result);
  models::ProteinModel* model = nullptr;
  {
    const std::lock_guard lock(mutex_);
    model = free_models_.back();  // as many models as workers
    free_models_.pop_back();
  }
  compute(*model, records, result);
  const std::lock_guard lock(mutex_);
  free_models_.push_back(model);
}

void InferRun::run(const Compute& compute, const Write& write) {
  run_.run(input_, {static_cast<int>(models_.size()), name_of(precision_),
                    [&](std::size_t slot, pipeline::BatchResult& result) {
                      this->compute(slot, compute, result);
                    },
                    write});
  const models::Vocabulary& vocabulary = info().vocabulary;
  if (run_.n_unknown() > 0)
    run_.log().warn(fmt::format("{} residues outside the alphabet were read as {}",
                                run_.n_unknown(),
                                vocabulary.words[static_cast<std::size_t>(vocabulary.unknown)]));
}

void InferRun::finish(std::uint64_t output_bytes, const std::function<void()>& name_outputs) {
  ModelRun::Report report;
  for (const auto& model : models_) {
    report.gpu_s += model->device_seconds();
    report.peak_device_bytes = std::max(report.peak_device_bytes, model->peak_device_bytes());
  }
  report.result = {{"model",
                    {{"architecture", info().architecture},
                     {"layers", info().n_layers},
                     {"width", info().d_model},
                     {"parameters", info().n_parameters}}},
                   {"precision", name_of(precision_)},
                   {"tokens_per_pass", budget_tokens_},
                   {"sequences", run_.n_records()},
                   {"residues", run_.n_residues()},
                   {"unknown_residues", run_.n_unknown()}};
  run_.finish(output_bytes, report, name_outputs);
}

}  // namespace biogpu::app
