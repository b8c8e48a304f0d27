#include "apps/biogpu/infer/structures/structure_run.hpp"

#include <fmt/format.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <cfloat>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "apps/biogpu/command_line/command.hpp"
#include "apps/biogpu/command_line/list_option.hpp"
#include "apps/biogpu/command_line/option_group.hpp"
#include "apps/biogpu/command_line/value_checks.hpp"
#include "apps/biogpu/run/cost_tasks.hpp"
#include "lib/core/auto_device.hpp"
#include "lib/core/error.hpp"
#include "lib/core/parallel_for.hpp"
#include "lib/models/base/registry.hpp"

namespace biogpu::app {
namespace {

// Structures that a GPU takes at once: enough residues to decode side by side.
constexpr std::size_t kGpuStructures = 64;
constexpr int kGpuWorkers = 4;  // that read and write while one of them has the device

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

// The flags with all that is read: folders replaced by the structures in them, and the files of the
// options of structures.
InferFlags with_files(InferFlags infer, const StructureFlags& flags) {
  const models::proteinmpnn::DesignRequest& request = flags.request;
  infer.inputs = find_structures(infer.inputs);
  const std::vector<io::NamedFile> read{{"--draws", flags.draws},
                                        {"--chain-id-jsonl", request.chain_id_jsonl},
                                        {"--fixed-positions-jsonl", request.fixed_positions_jsonl},
                                        {"--omit-AA-jsonl", request.omit_aa_jsonl},
                                        {"--bias-AA-jsonl", request.bias_aa_jsonl},
                                        {"--bias-by-res-jsonl", request.bias_by_res_jsonl},
                                        {"--tied-positions-jsonl", request.tied_positions_jsonl},
                                        {"--pssm-jsonl", request.pssm_jsonl}};
  infer.also_read.insert(infer.also_read.end(), read.begin(), read.end());
  return infer;
}

}  // namespace

void add_structure_flags(CLI::App& command, StructureFlags& flags, const char* heading) {
  models::proteinmpnn::DesignRequest& request = flags.request;
  const OptionGroup options(command, heading);
  CLI::Option* const chains = add_list(
      command, {"--chains", "design these chains; the others stay as they are [all]", "A,B,..."},
      request.chains);
  if (*heading != '\0') chains->group(heading);
  options.option("--fixed", request.fixed,
                 "keep the residues of these positions, counted from 1 in a chain: 'A1-10 B5'",
                 "LIST");
  options
      .option("--seed", flags.options.seed,
              "start the random numbers from this seed; the same seed gives the same results [1]",
              "N")
      ->transform(in_range(std::int64_t{0}, std::numeric_limits<std::int64_t>::max()));
  options.option(
      "--draws", flags.draws,
      "take random numbers from this safetensors file instead, to repeat another program's run",
      "FILE");
  const OptionGroup files(command, kOriginalFiles);
  files
      .option("--chain-id-jsonl", request.chain_id_jsonl,
              "read the chains to design and to keep from this file", "FILE")
      ->excludes(chains);
  files.option("--fixed-positions-jsonl", request.fixed_positions_jsonl,
               "read the positions that keep their residue from this file", "FILE");
}

StructureRun::StructureRun(InferFlags infer, StructureFlags flags, std::string name,
                           std::string command_line)
    : flags_(std::move(flags)),
      run_(with_files(std::move(infer), flags_), std::move(name), std::move(command_line)),
      input_({"structures", "residues", false},
             std::make_unique<StructureSource>(run_.flags().inputs, run_.flags().shard)) {
  for (const std::string& bias : flags_.bias)
    if (!flags_.request.bias.insert(parse_bias(bias)).second)
      throw Error(ErrorCode::usage, "--bias: " + describe_repeat(bias.substr(0, 1)));
  flags_.options.program = build_commit();
  inputs_ = std::make_unique<models::proteinmpnn::DesignInputs>(flags_.request);
  if (!flags_.draws.empty()) replay_ = tensor::Checkpoint::open(flags_.draws);
  const models::ModelConfig config(run_.flags().model);
  models::require_task(config, run_.task());
  info_ = models::proteinmpnn::read_info(config);
  open_devices();
}

void StructureRun::open_devices() {
  const SharedFlags& shared = run_.flags().shared;
  cost::Work work;
  work.task = &works::kDesign;
  work.n_threads = shared.threads;
  work.units = static_cast<double>(input_.n_records() * flags_.options.temperatures.size()) *
               static_cast<double>(flags_.options.n_sequences);
  devices_ = std::make_unique<StructureDevices>(run_.flags().model);
  // As with other models, earlier runs do not decide.
  run_.open_devices(
      decide_device(cost::Machine{}, work),
      [&](int gpu) { devices_->open(gpu, shared.max_device_memory); }, [&] { devices_->close(); });
  if (devices_->n_gpus() == 0) devices_->load_cpu(count_workers(), shared.threads);
  run_.log().detail(fmt::format("{}: {}, {} neighbours, on {}", run_.flags().model, info_.name,
                                info_.n_neighbours, run_.device().name));
}

// On a CPU many structures go one to a thread, and a few share the threads.
int StructureRun::count_workers() const {
  const int n_threads = run_.flags().shared.threads;
  const auto n_gpus = static_cast<int>(devices_->n_gpus());
  if (n_gpus > 0) return std::min(n_threads, kGpuWorkers * n_gpus);
  return input_.n_records() >= 2 * static_cast<std::uint64_t>(n_threads) ? n_threads : 1;
}

// Files are read by all threads of the worker, then the device has all their structures at once.
void StructureRun::compute(std::size_t slot, const MakeJob& make_job, int n_threads,
                           pipeline::RecordOutputs& result) {
  const std::vector<std::string>& paths = input_.items(slot);
  std::vector<std::unique_ptr<models::proteinmpnn::StructureJob>> jobs(paths.size());
  tbb::task_arena arena(arena_threads(static_cast<std::size_t>(n_threads)));
  arena.execute([&] {
    tbb::parallel_for(std::size_t{0}, jobs.size(),
                      [&](std::size_t j) { jobs[j] = make_job(paths[j]); });
    std::vector<models::proteinmpnn::Work> works;
    for (const auto& job : jobs)
      for (const models::proteinmpnn::Work& work : job->works()) works.push_back(work);
    devices_->compute(works, input_.number(slot));
  });
  for (const auto& job : jobs) {
    job->write(result);
    result.warnings.insert(result.warnings.end(), job->warnings().begin(), job->warnings().end());
  }
}

void StructureRun::run(const MakeJob& make_job,
                       const std::function<void(const pipeline::RecordOutputs& result)>& write) {
  const int n_threads = run_.flags().shared.threads, n_workers = count_workers();
  input_.set_max_cost(devices_->n_gpus() > 0 ? kGpuStructures : 1);
  run_.run(input_, {n_workers, flags_.options.program,
                    [&](std::size_t slot, pipeline::RecordOutputs& result) {
                      compute(slot, make_job, n_threads / n_workers, result);
                    },
                    write});
}

void StructureRun::finish(std::uint64_t output_bytes, const std::function<void()>& name_outputs) {
  run_.finish(output_bytes,
              {{{"model",
                 {{"architecture", "proteinmpnn"},
                  {"name", info_.name},
                  {"neighbours", info_.n_neighbours},
                  {"ca_only", info_.ca_only}}},
                {"seed", flags_.options.seed},
                {"structures", run_.n_records()},
                {"residues", run_.n_residues()}},
               devices_->device_seconds(),
               devices_->peak_device_bytes()},
              name_outputs);
}

}  // namespace biogpu::app
