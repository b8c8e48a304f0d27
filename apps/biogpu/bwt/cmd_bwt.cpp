#include <fmt/format.h>

#include <algorithm>

#include "apps/biogpu/bwt/command.hpp"
#include "apps/biogpu/run/cost_tasks.hpp"
#include "apps/biogpu/run/start_stages.hpp"
#include "lib/report/counted.hpp"

namespace biogpu::app {
namespace {

constexpr Subcommand kBwtSubcommands[] = {
    {"index", "index a genome for searches, or for bwa", add_bwt_index},
    {"count", "count the occurrences of each query", add_bwt_count},
    {"locate", "find where each query occurs, exactly or with mismatches", add_bwt_locate},
    {"smem", "find super-maximal exact matches, as bwa fastmap", add_bwt_smem},
    {"stats", "print the numbers of an index", add_bwt_stats},
    {"extract", "print regions of the genome out of an index", add_bwt_extract},
    {"transform", "compute the Burrows-Wheeler transform of sequences or bytes", add_bwt_transform},
    {"inverse", "restore what a transform was made from", add_bwt_inverse},
};

constexpr char kBwtFooter[] =
    "Examples:\n"
    "  biogpu bwt index genome.fa && biogpu bwt count -x genome.fa reads.fq.gz\n"
    "  biogpu bwt index --format bwa -p prefix genome.fa\n"
    "  biogpu bwt transform reads.fa -o reads.bwt\n\n";

const char* method_name(bwt::SuffixMethod method) {
  switch (method) {
    case bwt::SuffixMethod::lms:
      return "LMS suffixes";
    case bwt::SuffixMethod::induced:
      return "recursive induction";
    default:
      return "all suffixes";
  }
}

}  // namespace

Run add_bwt(CLI::App& command) { return add_subcommands(command, kBwtSubcommands, kBwtFooter); }

AutoDecision decide_for_one(const DeviceRequest& request, const cost::Work& work) {
  AutoDecision decision = decide_device(request, work);
  decision.max_gpus = 1;
  return decision;
}

void log_device(Log& log, const AutoDecision& decision, const DeviceChoice& choice) {
  if (!decision.detail.empty()) log.detail(decision.detail);
  log.detail(fmt::format("{} ({})", choice.name, choice.reason));
}

bwt::SuffixSortSettings sort_settings(const SharedFlags& flags, const DeviceChoice& device) {
  bwt::SuffixSortSettings settings;
  settings.n_threads = flags.threads;
  settings.gpu_bytes = flags.max_device_memory;
  if (device.on_gpu()) settings.gpu = device.gpus.front();
  return settings;
}

cost::Work sort_work(std::uint64_t n_letters, int n_threads) {
  const auto n = static_cast<double>(n_letters);
  return {&works::kBwtSort, n, n, 0, n_threads};
}

void keep_sort_rates(const bwt::SuffixSortReport& sorted, std::uint64_t n_letters, int n_threads,
                     const std::vector<StageTimes>& stages, double start_s) {
  if (!sorted.why_cpu.empty()) return;
  cost::Observed seen;
  seen.work = sort_work(n_letters, n_threads);
  seen.on_gpu = sorted.on_gpu;
  for (const StageTimes& stage : stages) {
    if (stage.name == "read") seen.read_s = stage.wall_s;
    // Parts of it run on one thread: what all threads together deliver is what counts.
    if (stage.name == "sort" || stage.name == "build" || stage.name == "transform")
      seen.workers_s += stage.wall_s * n_threads;
  }
  if (seen.on_gpu) {
    seen.workers_s = std::max(0.0, seen.workers_s - (sorted.gpu_s + sorted.gpu_copy_s) * n_threads);
    seen.transfer_s = sorted.gpu_copy_s;
    seen.device_s = sorted.gpu_s;
    seen.start_s = start_s;
  }
  keep_rates_of_run(seen);
}

std::vector<StageTimes> search_stages(const pipeline::Times& times, std::uint64_t bytes_read,
                                      std::uint64_t bytes_written) {
  std::vector<StageTimes> stages = pipeline::stages_of(times);
  stages[1].name = "search";
  stages[0].bytes = stages[1].bytes = bytes_read;
  stages[2].bytes = bytes_written;
  return stages;
}

void log_sort(const bwt::SuffixSortReport& sorted, double seconds, Log& log, BwtReport& report) {
  report.gpu_s = sorted.gpu_s;
  report.peak_device_bytes = sorted.device_bytes;
  if (sorted.on_gpu) {
    log.detail(fmt::format(
        "sorted in {:.2f} s: {:.3f} s on the device in {} blocks, {:.2f} s copied, {} rounds, {} "
        "suffixes left to the CPU",
        seconds, sorted.gpu_s, sorted.n_blocks, sorted.gpu_copy_s, sorted.n_rank_rounds,
        sorted.n_unresolved));
    return;
  }
  if (!sorted.why_cpu.empty()) log.warn("sorted on the CPU instead: " + sorted.why_cpu);
  log.detail(fmt::format("sorted in {:.2f} s by {}: {} tied after direct comparison, {} rounds",
                         seconds, method_name(sorted.method), sorted.n_unresolved,
                         sorted.n_rank_rounds));
}

void update_progress(Progress& progress, const io::SequenceReader& reader,
                     std::uint64_t n_queries) {
  const auto all = static_cast<double>(reader.file_bytes());
  progress.update(all > 0 ? static_cast<double>(reader.compressed_bytes()) / all : 0,
                  report::counted(n_queries, "queries"));
}

void write_bwt_summary(SummaryFile& summary, const SharedFlags& flags,
                       const std::string& command_line, const Log& log, const BwtReport& report) {
  report::RunSummary run = begin_summary(command_line, flags, report.device, log);
  if (report.device.on_gpu())  // one of those asked for is used
    run.device_used = "gpu:" + std::to_string(report.device.gpus.front());
  run.inputs = report.inputs;
  run.outputs = report.outputs;
  run.gpu_s = report.gpu_s;
  run.read_s = report.read_s;
  run.compute_s = report.compute_s;
  run.write_s = report.write_s;
  append_stages(run.stages, report.stages);
  run.peak_device_bytes = report.peak_device_bytes;
  run.result = report.result;
  summary.write(run);
}

}  // namespace biogpu::app
