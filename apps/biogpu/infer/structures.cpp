#include "apps/biogpu/infer/structures.hpp"

#include <fmt/format.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <cfloat>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>
#include <utility>

#include "apps/biogpu/command.hpp"
#include "apps/biogpu/option_group.hpp"
#include "apps/biogpu/progress.hpp"
#include "apps/biogpu/start_stages.hpp"
#include "apps/biogpu/value_checks.hpp"
#include "lib/core/auto_device.hpp"
#include "lib/core/device.hpp"
#include "lib/core/error.hpp"

namespace biogpu::app {
namespace {

// Structures that a GPU takes at once: enough residues to decode side by side.
constexpr std::size_t kGpuStructures = 64;
constexpr int kGpuWorkers = 4;  // that read and write while one of them has the device
// Sequences from which on a GPU pays for its start.

// "A:-1.1" into a letter and a number.
std::pair<char, double> parse_bias(const std::string& text) {
  double value = 0;
  if (text.size() > 2 && text[1] == ':') {
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data() + 2, end, value);
    if (read.ec == std::errc() && read.ptr == end && std::abs(value) <= FLT_MAX)
      return {text[0], value};
  }
  throw Error(
      ErrorCode::usage,
      fmt::format("--bias: '{}' is no bias; expected a letter and a number as A:-1.1", text));
}

}  // namespace

void add_structure_flags(CLI::App& command, StructureFlags& flags, const char* heading) {
  models::proteinmpnn::DesignRequest& request = flags.request;
  const OptionGroup options(command, heading);
  options.option("--chains", request.chains, "chains to design; the others stay [all]", "A,B,...")
      ->delimiter(',')
      ->allow_extra_args(false);
  options.option("--fixed", request.fixed,
                 "positions that keep their residue, counted from 1 in a chain: 'A1-10 B5'",
                 "LIST");
  options.option("--seed", flags.options.seed, "of all random numbers [1]", "N")
      ->transform(in_range(std::int64_t{0}, std::numeric_limits<std::int64_t>::max()));
  options.option("--draws", flags.draws,
                 "safetensors file with random numbers to use instead, to repeat another "
                 "program's run",
                 "FILE");
  const OptionGroup files(command, kOriginalFiles);
  files.option("--chain-id-jsonl", request.chain_id_jsonl, "chains to design and to keep", "FILE");
  files.option("--fixed-positions-jsonl", request.fixed_positions_jsonl,
               "positions that keep their residue", "FILE");
}

StructureRun::StructureRun(InferFlags infer, StructureFlags flags, std::string name,
                           std::string command_line)
    : infer_(std::move(infer)),
      flags_(std::move(flags)),
      name_(std::move(name)),
      command_line_(std::move(command_line)),
      log_(name_, infer_.shared.quiet, infer_.shared.verbose) {
  find_structures();
  require_files();
  infer_.shared.resolve();
  summary_ = SummaryFile(infer_.shared);
  for (const std::string& bias : flags_.bias) flags_.request.bias.insert(parse_bias(bias));
  flags_.options.program = build_commit();
  inputs_ = std::make_unique<models::proteinmpnn::DesignInputs>(flags_.request);
  if (!flags_.draws.empty()) replay_ = tensor::Checkpoint::open(flags_.draws);
  weights_ = models::proteinmpnn::load_weights(infer_.model);
  choose_devices();
}

void StructureRun::choose_devices() {
  cost::Work work;
  work.task = cost::Task::design;
  work.n_threads = infer_.shared.threads;
  work.units = static_cast<double>(paths_.size() * flags_.options.temperatures.size()) *
               static_cast<double>(flags_.options.n_sequences);
  // As with other models, earlier runs do not decide.
  const AutoDecision decision = decide_device(cost::default_machine(), work);
  devices_ = std::make_unique<StructureDevices>(infer_.shared, weights_, decision, log_);
  log_.detail(fmt::format("{}: {}, {} neighbours, on {}", infer_.model, weights_.name,
                          weights_.n_neighbours, devices_->choice().name));
}

void StructureRun::find_structures() {
  for (const std::string& input : infer_.inputs) {
    if (!std::filesystem::is_directory(input)) {
      paths_.push_back(input);
      continue;
    }
    std::vector<std::string> found;
    for (const auto& file : std::filesystem::directory_iterator(input))
      if (structure::has_structure_suffix(file.path().string()))
        found.push_back(file.path().string());
    if (found.empty())
      throw Error(ErrorCode::bad_input,
                  input + ": holds no structure; expected .pdb, .ent, .cif, .mmcif, perhaps .gz");
    std::sort(found.begin(), found.end());
    paths_.insert(paths_.end(), found.begin(), found.end());
  }
  if (paths_.empty()) throw Error(ErrorCode::usage, "no structure is given; see --help");
}

void StructureRun::require_files() {
  const models::proteinmpnn::DesignRequest& request = flags_.request;
  const std::vector<io::NamedFile> read{{"--draws", flags_.draws},
                                        {"--chain-id-jsonl", request.chain_id_jsonl},
                                        {"--fixed-positions-jsonl", request.fixed_positions_jsonl},
                                        {"--omit-AA-jsonl", request.omit_aa_jsonl},
                                        {"--bias-AA-jsonl", request.bias_aa_jsonl},
                                        {"--bias-by-res-jsonl", request.bias_by_res_jsonl},
                                        {"--tied-positions-jsonl", request.tied_positions_jsonl},
                                        {"--pssm-jsonl", request.pssm_jsonl}};
  infer_.also_read.insert(infer_.also_read.end(), read.begin(), read.end());
  require_own_outputs(infer_, paths_);
}

struct StructureRun::Item {
  std::size_t number = 0;
  std::size_t begin = 0, end = 0;  // into the paths
  pipeline::BatchResult result;
  std::vector<std::string> warnings;
};

// Files are read by all threads of the worker, then the device has all their structures at once.
void StructureRun::compute(Item& item, const MakeJob& make_job, int n_threads) {
  item.result = {};
  item.warnings.clear();
  std::vector<std::unique_ptr<models::proteinmpnn::StructureJob>> jobs(item.end - item.begin);
  tbb::task_arena arena(n_threads);
  arena.execute([&] {
    tbb::parallel_for(std::size_t{0}, jobs.size(),
                      [&](std::size_t j) { jobs[j] = make_job(paths_[item.begin + j]); });
    std::vector<models::proteinmpnn::Work> works;
    for (const auto& job : jobs)
      for (const models::proteinmpnn::Work& work : job->works()) works.push_back(work);
    devices_->compute(works, item.number);
  });
  for (const auto& job : jobs) {
    job->write(item.result);
    item.warnings.insert(item.warnings.end(), job->warnings().begin(), job->warnings().end());
  }
}

// On a CPU many structures go one to a thread, and a few share the threads.
void StructureRun::run(const MakeJob& make_job,
                       const std::function<void(const pipeline::BatchResult& result)>& write) {
  const int n_threads = infer_.shared.threads;
  const std::size_t n_gpus = devices_->n_gpus(), n_at_once = n_gpus > 0 ? kGpuStructures : 1;
  const bool many = paths_.size() >= 2 * static_cast<std::size_t>(n_threads);
  const int n_workers = n_gpus > 0 ? std::min(n_threads, kGpuWorkers * static_cast<int>(n_gpus))
                        : many     ? n_threads
                                   : 1;
  std::vector<Item> items(static_cast<std::size_t>(n_workers) + 2);
  Progress progress(name_, infer_.shared.progress, infer_.shared.quiet);
  std::size_t next = 0, n_done = 0;
  times_ = pipeline::run(
      {n_workers, static_cast<int>(items.size())},
      {[&](std::size_t slot) {
         if (next == paths_.size()) return false;
         const std::size_t end = std::min(paths_.size(), next + n_at_once);
         items[slot].number = next / n_at_once;
         items[slot].begin = std::exchange(next, end);
         items[slot].end = end;
         return true;
       },
       [&](std::size_t slot) { compute(items[slot], make_job, n_threads / n_workers); },
       [&](std::size_t slot) {
         for (const std::string& warning : items[slot].warnings) log_.warn(warning);
         write(items[slot].result);
         n_residues_ += items[slot].result.n_residues;
         n_done += items[slot].end - items[slot].begin;
         progress.update(static_cast<double>(n_done) / static_cast<double>(paths_.size()),
                         fmt::format("{} structures", n_done));
       }});
}

void StructureRun::finish(std::uint64_t output_bytes) {
  report::RunSummary run = begin_summary(command_line_, infer_.shared, devices_->choice(), log_);
  for (const std::string& path : paths_) {
    std::error_code error;
    run.inputs.push_back({path, std::filesystem::file_size(path, error), 1});
  }
  run.outputs = {{infer_.output, output_bytes}};
  add_times(run, times_);
  stages_ = pipeline::stages_of(times_);
  stages_.back().bytes = output_bytes;
  append_stages(run.stages, stages_);
  run.gpu_s = devices_->device_seconds();
  run.peak_device_bytes = devices_->peak_device_bytes();
  run.result["model"] = {{"architecture", "proteinmpnn"},
                         {"name", weights_.name},
                         {"neighbours", weights_.n_neighbours},
                         {"ca_only", weights_.ca_only}};
  run.result["seed"] = flags_.options.seed;
  run.result["structures"] = paths_.size();
  run.result["residues"] = n_residues_;
  summary_.write(run);
}

void StructureRun::commit() {
  summary_.commit();
  log_.stages(stages_);
  log_.info(fmt::format("{} structures, {} residues, {:.1f} structures/s", paths_.size(),
                        n_residues_,
                        static_cast<double>(paths_.size()) / std::max(1e-9, log_.seconds())));
}

}  // namespace biogpu::app
