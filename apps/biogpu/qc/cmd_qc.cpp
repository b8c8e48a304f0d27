#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "apps/biogpu/command_line/command.hpp"
#include "apps/biogpu/qc/flags.hpp"
#include "apps/biogpu/qc/text.hpp"
#include "apps/biogpu/run/cost_tasks.hpp"
#include "apps/biogpu/run/log.hpp"
#include "apps/biogpu/run/process_end.hpp"
#include "apps/biogpu/terminal/progress.hpp"
#include "lib/core/auto_device.hpp"
#include "lib/core/error.hpp"
#include "lib/io/commit_guard.hpp"
#include "lib/io/output/suffix.hpp"
#include "lib/io/output_file.hpp"
#include "lib/qc/batch/gpu_steps.hpp"
#include "lib/qc/merge/part.hpp"
#include "lib/qc/prepare/prepare.hpp"
#include "lib/qc/report/html_report.hpp"
#include "lib/qc/report/json_report.hpp"
#include "lib/qc/run/run.hpp"
#include "lib/report/counted.hpp"

namespace biogpu::app {
namespace {

constexpr char kQcFooter[] =
    "Takes fastp's options and writes fastp's reads and JSON. -h is the HTML report, as in "
    "fastp.\n\n"
    "Examples:\n"
    "  biogpu qc -i reads.fq.gz -o clean.fq.gz\n"
    "  biogpu qc -i r1.fq.gz -I r2.fq.gz -o clean1.fq.gz -O clean2.fq.gz -j qc.json -h qc.html\n\n";

// A device wants more at a time than a CPU's cache holds.
constexpr std::size_t kGpuBatchRecords = 8000;

class QcRun {
 public:
  QcRun(QcFlags& flags, std::string command_line)
      : flags_(flags),
        command_line_(std::move(command_line)),
        log_("qc", flags.quiet, flags.verbose) {}

  void run() {
    for (const std::string& remark : flags_.resolve()) say(remark);
    qc::Options& options = flags_.options;
    // Reports that cannot be written are found out before the work is done.
    io::OutputFile json(options.json);
    io::OutputFile html(options.html);
    std::optional<io::OutputFile> part;
    if (!options.part_out.empty()) part.emplace(options.part_out);
    const StageClock prepare("prepare", flags_.threads);
    qc::prepare(options, [&](const std::string& line) { say(line); });
    std::vector<StageTimes> stages{prepare.stop()};
    qc::RunSettings settings;
    settings.n_threads = flags_.threads;
    if (wants_gpu(options)) {
      settings.choose_gpus = [this] { return choose_gpus(); };
      settings.wait_for_gpus = flags_.device_request.kind != DeviceRequest::Kind::automatic;
      settings.batch_records = kGpuBatchRecords;
    }
    settings.batch_records = std::min(settings.batch_records, records_of_long_batch(options));
    if (flags_.batch > 0) settings.batch_records = flags_.batch;
    Progress progress("qc", flags_.progress, flags_.quiet);
    settings.progress = [&](double fraction, std::uint64_t n_records) {
      progress.update(fraction,
                      fmt::format("{} {}", n_records, options.paired() ? "pairs" : "reads"));
    };
    std::optional<io::CommitGuard> guard;  // from the first name to the last
    qc::RunResult result = qc::run(options, settings, [&](qc::RunResult& whole) {
      if (part) part->write(part_text(whole));
      json.write(qc::json_report(whole.summary, options, command_line_ + " "));
      html.write(qc::html_report(whole.summary, options, command_line_));
      if (part) part->finish();
      json.finish();
      html.finish();
      guard.emplace();
    });
    held_ = std::move(result.held);
    progress.clear();
    if (part) part->commit();
    json.commit();
    html.commit();
    guard.reset();
    after_commit([&] { tell(result, options, std::move(stages)); });
  }

 private:
  void tell(const qc::RunResult& result, const qc::Options& options,
            std::vector<StageTimes> stages) {
    for (const std::string& remark : result.remarks) log_.warn(remark);
    say(qc_text(result.summary, options));
    say(fmt::format("JSON report: {}\nHTML report: {}\n\ncommand: {}", options.json, options.html,
                    command_line_));
    warn_of_input(result, options);
    if (result.n_device_records > 0)
      log_.detail(
          fmt::format("device: {} records, copies and kernels {:.3f} s over all streams, "
                      "{:.0f} MB",
                      result.n_device_records, result.device_s,
                      static_cast<double>(result.device_bytes) * 1e-6));
    stages.insert(stages.end(), result.stages.begin(), result.stages.end());
    log_.stages(stages);
    keep_rates(result, options);
    for (const std::string& line : flow_text(result)) log_.info(line);
    if (options.trim1.tail > 0)
      log_.info(fmt::format(
          "-t {}: {} cut off the tail of every read; threads are -w", options.trim1.tail,
          report::counted(static_cast<std::uint64_t>(options.trim1.tail), "bases")));
    log_.info(fmt::format("{} in {:.2f} s",
                          report::counted(result.n_records, options.paired() ? "pairs" : "reads"),
                          log_.seconds()));
  }

  // What fastp is silent about. Behind the lines that are fastp's.
  void warn_of_input(const qc::RunResult& result, const qc::Options& options) {
    if (!result.other_names.empty()) log_.warn(result.other_names);
    const qc::Summary& summary = result.summary;
    const std::uint64_t n_reads = summary.before[0].n_reads + summary.before[1].n_reads;
    if (options.adapter_is_new && summary.counts.adapter_reads > n_reads / 2)
      log_.warn(
          fmt::format("{} of {} reads were cut at an adapter, and the one detected is none of the "
                      "known ones; if it is part of the sample, as in amplicons, use -A",
                      summary.counts.adapter_reads, n_reads));
  }

  // Takes the shares, which may be most of the run's memory.
  std::string part_text(qc::RunResult& result) const {
    return qc::encode_part({flags_.options, result.n_of_input, qc::whole_command(command_line_),
                            result.summary, std::move(result.partial)});
  }

  bool wants_gpu(const qc::Options& options) {
    const DeviceRequest::Kind kind = flags_.device_request.kind;
    if (kind == DeviceRequest::Kind::cpu) return false;
    decision_ = decide_device(flags_.device_request, work(options));
    if (kind == DeviceRequest::Kind::automatic) {
      if (!qc::gpu_covers(options)) return false;
      if (!decision_.detail.empty()) log_.detail(decision_.detail);
      return decision_.worth_gpu;
    }
    if (qc::gpu_covers(options)) return true;
    choose_gpus();  // a device that is not there is an error all the same
    log_.warn("the GPU has no kernels for some of these options; the CPU does all of it");
    return false;
  }

  std::vector<int> choose_gpus() {
    const DeviceChoice choice = choose_device(flags_.device_request, decision_);
    log_.detail(fmt::format("{} ({})", choice.name, choice.reason));
    return choice.gpus;
  }

  // Of long reads a batch holds fewer, since several batches are in memory.
  static std::size_t records_of_long_batch(const qc::Options& options) {
    constexpr std::size_t kTextOfBatch = 32u << 20;
    const auto longest = static_cast<std::size_t>(std::max(options.cycles1, options.cycles2));
    return kTextOfBatch / (2 * longest + 1) + 1;
  }

  cost::Work work(const qc::Options& options) const {
    cost::Work work;
    work.task = io::is_gzip_name(options.out1) ? &works::kQcGzip : &works::kQcPlain;
    work.n_threads = flags_.threads;
    for (const std::string& path : {options.in1, options.in2}) add_file(work, path);
    work.units = work.bytes;
    return work;
  }

  // Of runs whose records all went one way.
  void keep_rates(const qc::RunResult& result, const qc::Options& options) const {
    const bool on_gpu = result.n_device_records > 0;
    if (!options.shard.is_whole() || options.reads_to_process > 0 ||
        (on_gpu && result.n_device_records < result.n_records))
      return;
    cost::Observed seen;
    seen.work = work(options);
    seen.on_gpu = on_gpu;
    for (const StageTimes& stage : result.stages) {
      if (stage.name == "read/files") seen.read_s = read_seconds(stage);
      if (stage.name == "compute") seen.workers_s = stage.busy_s;
    }
    keep_rates_of_run(seen);
  }

  void say(const std::string& text) {
    if (!flags_.quiet) to_stderr(text + "\n");
  }

  QcFlags& flags_;
  const std::string command_line_;
  Log log_;
  AutoDecision decision_;
  std::shared_ptr<void> held_;
};

}  // namespace

Run add_qc(CLI::App& command) {
  // fastp's -h names the HTML report.
  command.set_help_flag("--help,-?", "print this help and end");
  command.set_version_flag("-v,--version", version_text)->group("");  // -v as fastp's
  command.footer(kQcFooter + std::string(kExitCodes));
  auto flags = std::make_shared<QcFlags>();
  add_qc_flags(command, *flags);
  return [flags](const std::string& command_line) { run_and_keep<QcRun>(*flags, command_line); };
}

}  // namespace biogpu::app
