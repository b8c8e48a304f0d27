#include "apps/biogpu/kmer/count/count_report.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "apps/biogpu/run/cost_tasks.hpp"
#include "apps/biogpu/run/run_summary.hpp"
#include "apps/biogpu/run/start_stages.hpp"
#include "lib/core/auto_device.hpp"
#include "lib/report/counted.hpp"

namespace biogpu::app {
namespace {

// Without the copies to the device.
double counting_seconds(const kmer::DeviceCountTimes& times) {
  return times.encode_s + times.sort_s + times.runs_s;
}

}  // namespace

cost::Work count_work(const CountFlags& flags) {
  cost::Work work;
  work.task = &works::kKmerCount;
  work.n_threads = flags.shared.threads;
  for (const std::string& path : flags.input.paths()) add_file(work, path);
  work.units = work.bytes;
  return work;
}

void CountReport::add_stages(const std::vector<StageTimes>& stages) {
  stages_.insert(stages_.end(), stages.begin(), stages.end());
}

void CountReport::add_output_stages(const pipeline::Times& times, const kmer::Counter& counter,
                                    std::uint64_t n_bytes, bool workers_wrote) {
  std::vector<StageTimes> stages = pipeline::stages_of(times);
  stages[1].name = "sort";
  if (const auto usage = counter.device_usage()) {
    const kmer::DeviceCountTimes& device = usage->times;
    for (const auto& [name, seconds] : {std::pair{"device/copy", device.copy_s},
                                        {"device/place", device.encode_s},
                                        {"device/sort", device.sort_s},
                                        {"device/runs", device.runs_s}})
      stages_.push_back({name, 1, 0, seconds, 0, "", 0});
    stages[0].name = "fetch";
    stages[1].name = "decode";
  } else {
    stages.erase(stages.begin());  // a number is all that is read
  }
  stages[stages.size() - (workers_wrote ? 2 : 1)].bytes = n_bytes;
  add_stages(stages);
}

void CountReport::log_result(const kmer::Counter& counter, const KmerInput& input,
                             std::uint64_t n_written) {
  const kmer::CountTotals totals = counter.totals();
  wall_s_ = log_.seconds();
  log_.info(fmt::format("{}, {} distinct, {} written, in {:.2f} s: {:.1f} M k-mers/s",
                        report::counted(totals.n_windows, "k-mers"), totals.n_distinct, n_written,
                        wall_s_, 1e-6 * static_cast<double>(totals.n_windows) / wall_s_));
  constexpr std::uint64_t kFewRecords = 10;
  std::uint64_t n_records = 0;
  for (const report::InputFile& file : input.files()) n_records += file.records;
  if (n_records == 0)
    log_.warn("the input has no records; the database has no k-mers");
  else if (n_records >= kFewRecords && totals.n_windows < n_records)
    log_.warn(fmt::format("{} have {}; are they DNA, and longer than k?",
                          report::counted(n_records, "records"),
                          report::counted(totals.n_windows, "k-mers")));
  if (const auto usage = counter.device_usage()) {
    const kmer::DeviceCountTimes& times = usage->times;
    log_.detail(fmt::format(
        "device: copy {:.4f} s, place {:.4f} s, sort {:.4f} s, runs {:.4f} s: {:.2f} G k-mers/s",
        times.copy_s, times.encode_s, times.sort_s, times.runs_s,
        1e-9 * static_cast<double>(totals.n_windows) / counting_seconds(times)));
  }
}

std::string CountReport::json(const kmer::AutoDeviceCounter& counter, const KmerInput& input,
                              std::uint64_t n_written, std::uint64_t n_bytes) const {
  const kmer::CountTotals totals = counter.totals();
  report::RunSummary run = begin_summary(command_line_, flags_.shared, counter.choice(), log_);
  run.wall_s = wall_s_;
  run.inputs = input.files();
  run.outputs.push_back({flags_.out_path, n_bytes});
  append_stages(run.stages, stages_);
  run.result = {{"k", flags_.k},
                {"canonical", flags_.canonical},
                {"kmers", totals.n_windows},
                {"distinct", totals.n_distinct},
                {"written", n_written},
                {"spilled_bytes", counter.spilled_bytes()}};
  if (const auto usage = counter.device_usage()) {
    const kmer::DeviceCountTimes& times = usage->times;
    run.gpu_s = times.copy_s + counting_seconds(times);
    run.peak_device_bytes = usage->peak_bytes;
    run.result["gpu"] = {{"copy_s", times.copy_s},
                         {"place_s", times.encode_s},
                         {"sort_s", times.sort_s},
                         {"runs_s", times.runs_s}};
  }
  return report::json_summary(run);
}

void CountReport::keep_rates(const kmer::AutoDeviceCounter& counter) const {
  const auto usage = counter.device_usage();
  cost::Observed seen;
  seen.work = count_work(flags_);
  seen.on_gpu = usage.has_value();
  for (const StageTimes& stage : stages_) {
    if (stage.name == "read") seen.read_s = read_seconds(stage);
    // Counting on a device is its own time, not that of threads.
    if (stage.name == "scan" || stage.name == "sort" || stage.name == "decode" ||
        (stage.name == "count" && !seen.on_gpu))
      seen.workers_s += stage.busy_s;
  }
  if (usage) {
    seen.transfer_s = usage->times.copy_s;
    seen.device_s = counting_seconds(usage->times);
    if (counter.choice().gpus.size() == 1) seen.start_s = counter.start_seconds();
  }
  keep_rates_of_run(seen);
}

}  // namespace biogpu::app
