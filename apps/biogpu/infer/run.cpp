#include "apps/biogpu/infer/run.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <future>
#include <set>
#include <utility>

#include "apps/biogpu/auto_work.hpp"
#include "apps/biogpu/progress.hpp"
#include "apps/biogpu/start_stages.hpp"
#include "lib/core/auto_device.hpp"
#include "lib/core/device.hpp"
#include "lib/core/error.hpp"
#include "lib/core/gpu_backend.hpp"
#include "lib/core/quote.hpp"
#include "lib/io/input/raw_file.hpp"
#include "lib/models/registry.hpp"
#include "lib/ops/cpu/cpu_context.hpp"

namespace biogpu::app {
namespace {

// Tokens of a pass: on a CPU, what the caches hold well; on a GPU, whole rounds of its processors
// (docs/design/infer.md).
constexpr std::int64_t kCpuTokens = 2048;
constexpr std::int64_t kGpuTokens = 16896;
constexpr std::uint64_t kRecordsPerBatch = 512;

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

}  // namespace

struct InferRun::Item {
  io::SequenceBatch batch;
  std::size_t input = 0;
  std::size_t first = 0;  // records before it were in the journal
  pipeline::BatchResult result;
};

InferRun::InferRun(InferFlags flags, std::string name, std::string command_line)
    : flags_(std::move(flags)),
      name_(std::move(name)),
      command_line_(std::move(command_line)),
      log_(name_, flags_.shared.quiet, flags_.shared.verbose) {
  require_own_outputs(flags_, flags_.inputs);
  flags_.shared.resolve();
  summary_ = SummaryFile(flags_.shared);
  if (flags_.inputs.empty()) flags_.inputs.emplace_back("-");
  if (flags_.resume && flags_.output == "-")
    throw Error(ErrorCode::usage, "--resume needs an output file");
  if (flags_.resume && std::count(flags_.inputs.begin(), flags_.inputs.end(), "-") > 0)
    throw Error(ErrorCode::usage,
                "--resume needs input files: what standard input had cannot be known again");
  if (!flags_.shard.is_whole())
    ranges_ = io::shard_files(flags_.inputs, flags_.shard, flags_.shared.threads, true);
  const StageClock load("load", flags_.shared.threads);
  load_models();
  stages_.push_back(load.stop(weight_bytes(flags_.model)));
  choose_budget();
}

void InferRun::load_models() {
  const AutoDecision decision = decide(flags_);
  device_ = choose_device(flags_.shared.device_request, decision);
  if (flags_.shared.device_request.kind == DeviceRequest::Kind::automatic && has_gpu_backend())
    log_.detail(decision.detail);
  tensor::ContextOptions options;
  options.n_threads = flags_.shared.threads;
  options.max_device_bytes = flags_.shared.max_device_memory;
  options.precision = parse_precision(flags_.precision, device_.on_gpu());
  try {
    for (const int gpu : device_.gpus) contexts_.push_back(tensor::make_gpu_context(gpu, options));
  } catch (const Error& error) {
    if (flags_.shared.device_request.kind != DeviceRequest::Kind::automatic) throw;
    log_.warn(fmt::format("the CPU is used: {}", error.what()));
    contexts_.clear();
    device_ = {{}, "cpu", error.what()};
    options.precision = parse_precision(flags_.precision, false);
  }
  if (contexts_.empty()) contexts_.push_back(ops::make_cpu_context(options.n_threads));
  if (device_.on_gpu()) precision_ = options.precision;
  load_weights();
  log_.detail(fmt::format("{}: {}, {} layers of {}, on {}", flags_.model, info().architecture,
                          info().n_layers, info().d_model, device_.name));
}

// Side by side for all devices. Each has a thread of its own, for which its device is the current
// one.
void InferRun::load_weights() {
  const int n_threads = std::max(1, flags_.shared.threads / static_cast<int>(contexts_.size()));
  const std::string task = name_.substr(name_.find(' ') + 1);  // of "infer embed"
  const auto load = [&](tensor::Context& context) {
    tbb::task_arena threads(n_threads);
    return threads.execute([&] {
      return models::load_model<models::ProteinModel>(flags_.model, task, context,
                                                      {.keep_rare = flags_.keep_rare});
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
  const std::int64_t most = device_.on_gpu() ? kGpuTokens : kCpuTokens;
  budget_tokens_ = flags_.shared.batch > 0 ? static_cast<std::int64_t>(flags_.shared.batch) : most;
  const std::uint64_t bound =
      device_.on_gpu() ? flags_.shared.max_device_memory : flags_.shared.max_memory;
  const std::vector<std::string> outputs{
      models::hidden_of_residues(static_cast<int>(info().n_layers))};
  while (bound > 0 && budget_tokens_ > 64 &&
         models_.front()->measure(budget_tokens_, outputs) > bound)
    budget_tokens_ /= 2;
}

models::TokenizeOptions InferRun::tokenize_options() const {
  return {flags_.allow_unknown, info().max_residues, flags_.truncate};
}

void InferRun::fail_not_finite(const std::string& place) const {
  const char* const hint = precision_ == tensor::Precision::fp16
                               ? "try --precision bf16, whose range is that of fp32"
                               : "look at the weights";
  throw Error(ErrorCode::failed, fmt::format("{}: the result is NaN or infinite; {}", place, hint));
}

void InferRun::expect(std::unordered_set<std::string> names) {
  if (flags_.shard.is_whole()) missing_ = std::move(names);
}

bool InferRun::read(Item& item) {
  const io::BatchLimits limits{kRecordsPerBatch, static_cast<std::uint64_t>(budget_tokens_)};
  for (;;) {
    if (!reader_) {
      if (next_input_ == flags_.inputs.size()) return false;
      reader_ = std::make_unique<io::SequenceReader>(flags_.inputs[next_input_++],
                                                     flags_.shared.threads, true);
      if (!ranges_.empty()) reader_->select(ranges_[next_input_ - 1]);
    }
    if (!reader_->read(item.batch, limits)) {
      inputs_.push_back({reader_->path(), reader_->file_bytes(), reader_->n_records()});
      reader_.reset();
      continue;
    }
    for (std::size_t i = 0; i < item.batch.size() && !missing_.empty(); ++i)
      missing_.erase(std::string(item.batch.name(i)));
    item.input = next_input_ - 1;
    item.first = std::min<std::uint64_t>(n_skipped_, item.batch.size());
    n_skipped_ -= item.first;
    if (item.first < item.batch.size()) return true;
  }
}

void InferRun::compute(Item& item, const Compute& compute) {
  Records records;
  item.result = {};
  const models::TokenizeOptions options = tokenize_options();
  for (std::size_t i = item.first; i < item.batch.size(); ++i) {
    records.names.emplace_back(item.batch.name(i));
    records.places.push_back(
        fmt::format("{}: record {} ({})", io::input::label_of(flags_.inputs[item.input]),
                    item.batch.first_record() + i, shortened(item.batch.name(i))));
    records.sequences.push_back(models::tokenize(info().vocabulary, item.batch.sequence(i), options,
                                                 records.places.back(), &item.result.n_unknown));
    item.result.n_residues += records.sequences.back().size() - 2;
  }
  item.result.n_records = records.names.size();
  models::ProteinModel* model = nullptr;
  {
    const std::lock_guard lock(mutex_);
    model = free_models_.back();  // as many models as workers
    free_models_.pop_back();
  }
  compute(*model, records, item.result);
  const std::lock_guard lock(mutex_);
  free_models_.push_back(model);
}

std::string file_state(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return path + "\n";
  return fmt::format("{} {} {}.{:09}\n", path, status.st_size, status.st_mtim.tv_sec,
                     status.st_mtim.tv_nsec);
}

std::string InferRun::fingerprint(const std::string& options) const {
  std::string text =
      fmt::format("{} {} {} {} {} {} {}\n", name_, options, static_cast<int>(precision_),
                  device_.on_gpu(), flags_.truncate, flags_.allow_unknown, flags_.keep_rare);
  if (!flags_.shard.is_whole())
    text += fmt::format("{}/{}\n", flags_.shard.index, flags_.shard.count);
  const std::filesystem::path folder = std::filesystem::absolute(flags_.model);
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (const auto suffix = entry.path().extension();
        suffix == ".safetensors" || suffix == ".json" || suffix == ".txt")
      files.insert(entry.path().string());
  for (const std::string& path : files) text += file_state(path);
  for (const std::string& path : flags_.inputs) text += file_state(path);
  return text;
}

void InferRun::run(const std::string& options, const Compute& compute, const Write& write) {
  Progress progress(name_, flags_.shared.progress, flags_.shared.quiet);
  const auto take = [&](const pipeline::BatchResult& result) {
    write(result);
    n_records_ += result.n_records;
    n_residues_ += result.n_residues;
    n_unknown_ += result.n_unknown;
  };
  if (flags_.resume) {
    journal_ = std::make_unique<pipeline::Journal>(journal_of(flags_), fingerprint(options));
    journal_->replay(take);
    n_skipped_ = n_records_;
    if (n_records_ > 0) log_.info(fmt::format("{} records were there already", n_records_));
  }
  std::vector<Item> items(models_.size() + 2);
  const auto put = [&](std::size_t slot) {
    if (journal_) journal_->append(items[slot].result);
    take(items[slot].result);
    items[slot].result = {};  // what it holds of passes is not kept until the slot's next turn
    progress.update(0, fmt::format("{} sequences, {:.0f} residues/s", n_records_,
                                   static_cast<double>(n_residues_) / log_.seconds()));
  };
  times_ = pipeline::run({static_cast<int>(models_.size()), static_cast<int>(items.size())},
                         {[&](std::size_t slot) { return read(items[slot]); },
                          [&](std::size_t slot) { this->compute(items[slot], compute); }, put});
  if (n_skipped_ > 0)
    throw Error(ErrorCode::bad_input,
                fmt::format("{}: holds {} records more than the inputs; remove it to start again",
                            journal_of(flags_), n_skipped_));
  if (n_unknown_ > 0)
    log_.warn(
        fmt::format("{} residues outside the alphabet were read as {}", n_unknown_,
                    info().vocabulary.words[static_cast<std::size_t>(info().vocabulary.unknown)]));
}

void InferRun::finish(std::uint64_t output_bytes) {
  report::RunSummary run = begin_summary(command_line_, flags_.shared, device_, log_);
  run.inputs = inputs_;
  run.outputs = {{flags_.output, output_bytes}};
  add_times(run, times_);
  std::vector<StageTimes> three = pipeline::stages_of(times_);
  three.back().bytes = output_bytes;
  stages_.insert(stages_.end(), three.begin(), three.end());
  append_stages(run.stages, stages_);
  for (const auto& model : models_) {
    run.gpu_s += model->device_seconds();
    run.peak_device_bytes = std::max(run.peak_device_bytes, model->peak_device_bytes());
  }
  run.result["model"] = {{"architecture", info().architecture},
                         {"layers", info().n_layers},
                         {"width", info().d_model},
                         {"parameters", info().n_parameters}};
  run.result["precision"] = name_of(precision_);
  run.result["tokens_per_pass"] = budget_tokens_;
  run.result["sequences"] = n_records_;
  run.result["residues"] = n_residues_;
  run.result["unknown_residues"] = n_unknown_;
  summary_.write(run);
}

void InferRun::commit() {
  summary_.commit();
  if (journal_) journal_->remove();
  log_.stages(stages_);
  log_.info(fmt::format("{} sequences, {} residues, {:.0f} residues/s", n_records_, n_residues_,
                        static_cast<double>(n_residues_) / std::max(1e-9, log_.seconds())));
}

}  // namespace biogpu::app
