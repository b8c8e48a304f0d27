#include "apps/biogpu/infer_structures.hpp"

#include <fmt/format.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <utility>

#include "apps/biogpu/command.hpp"
#include "apps/biogpu/option_group.hpp"
#include "apps/biogpu/progress.hpp"
#include "apps/biogpu/run_summary.hpp"
#include "lib/core/device.hpp"
#include "lib/core/error.hpp"

namespace biogpu::app {
namespace {

// "A:-1.1" into a letter and a number.
std::pair<char, double> parse_bias(const std::string& text) {
  double value = 0;
  if (text.size() > 2 && text[1] == ':') {
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data() + 2, end, value);
    if (read.ec == std::errc() && read.ptr == end) return {text[0], value};
  }
  throw Error(
      ErrorCode::usage,
      fmt::format("--bias: '{}' is no bias; expected a letter and a number as A:-1.1", text));
}

}  // namespace

void add_structure_flags(CLI::App& command, StructureFlags& flags) {
  infer::mpnn::DesignRequest& request = flags.request;
  const OptionGroup options(command);
  options.option("--chains", request.chains, "chains to design; the others stay [all]", "A,B,...")
      ->delimiter(',');
  options.option("--fixed", request.fixed,
                 "positions that keep their residue, counted from 1 in a chain: 'A1-10 B5'",
                 "LIST");
  options.option("--seed", flags.options.seed, "of all random numbers [1]", "N");
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
  infer_.shared.resolve();
  check_device();
  for (const std::string& bias : flags_.bias) flags_.request.bias.insert(parse_bias(bias));
  flags_.options.program = build_commit();
  inputs_ = std::make_unique<infer::mpnn::DesignInputs>(flags_.request);
  if (!flags_.draws.empty()) replay_ = nn::Checkpoint::open(flags_.draws);
  find_structures();
  weights_ = infer::mpnn::load_weights(infer_.model);
  log_.detail(fmt::format("{}: {}, {} neighbours, on cpu", infer_.model, weights_.name,
                          weights_.n_neighbours));
}

void StructureRun::check_device() {
  const auto kind = infer_.shared.device_request.kind;
  if (kind == DeviceRequest::Kind::gpu || kind == DeviceRequest::Kind::listed)
    throw Error(
        ErrorCode::device,
        fmt::format("--device {}: models of structures run on the CPU only", infer_.shared.device));
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

// Many structures go one to a thread; a few share the threads.
void StructureRun::run(
    const std::function<void(const std::string& path, infer::BatchResult& result)>& compute,
    const std::function<void(const infer::BatchResult& result)>& write) {
  struct Item {
    std::size_t path = 0;
    infer::BatchResult result;
  };
  const int n_threads = infer_.shared.threads;
  const bool many = paths_.size() >= 2 * static_cast<std::size_t>(n_threads);
  const int n_workers = many ? n_threads : 1;
  std::vector<Item> items(static_cast<std::size_t>(n_workers) + 2);
  Progress progress(name_, infer_.shared.progress, infer_.shared.quiet);
  std::size_t next = 0, n_done = 0;
  times_ = pipeline::run(
      {n_workers, static_cast<int>(items.size())},
      {[&](std::size_t slot) {
         if (next == paths_.size()) return false;
         items[slot].path = next++;
         return true;
       },
       [&](std::size_t slot) {
         items[slot].result = {};
         tbb::task_arena arena(n_threads / n_workers);
         arena.execute([&] { compute(paths_[items[slot].path], items[slot].result); });
       },
       [&](std::size_t slot) {
         write(items[slot].result);
         n_residues_ += items[slot].result.n_residues;
         ++n_done;
         progress.update(static_cast<double>(n_done) / static_cast<double>(paths_.size()),
                         fmt::format("{} structures", n_done));
       }});
}

void StructureRun::finish(std::uint64_t output_bytes) {
  log_.info(fmt::format("{} structures, {} residues, {:.1f} structures/s", paths_.size(),
                        n_residues_,
                        static_cast<double>(paths_.size()) / std::max(1e-9, log_.seconds())));
  report::RunSummary run = begin_summary(command_line_, infer_.shared,
                                         {{}, "cpu", "models of structures run on the CPU"}, log_);
  for (const std::string& path : paths_) {
    std::error_code error;
    run.inputs.push_back({path, std::filesystem::file_size(path, error), 1});
  }
  run.outputs = {{infer_.output, output_bytes}};
  add_times(run, times_);
  run.result["model"] = {{"architecture", "proteinmpnn"},
                         {"name", weights_.name},
                         {"neighbours", weights_.n_neighbours},
                         {"ca_only", weights_.ca_only}};
  run.result["seed"] = flags_.options.seed;
  run.result["structures"] = paths_.size();
  run.result["residues"] = n_residues_;
  write_summary(infer_.shared, run);
}

}  // namespace biogpu::app
