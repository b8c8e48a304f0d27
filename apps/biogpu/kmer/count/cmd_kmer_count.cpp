// `biogpu kmer count`: files in, the counter of the device chosen, one database out.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "apps/biogpu/kmer/commands.hpp"
#include "apps/biogpu/kmer/count/count_filter.hpp"
#include "apps/biogpu/kmer/count/count_flags.hpp"
#include "apps/biogpu/kmer/count/count_output.hpp"
#include "apps/biogpu/kmer/count/count_report.hpp"
#include "apps/biogpu/kmer/count/input.hpp"
#include "apps/biogpu/run/log.hpp"
#include "apps/biogpu/run/process_end.hpp"
#include "apps/biogpu/run/start_stages.hpp"
#include "apps/biogpu/terminal/progress.hpp"
#include "lib/core/auto_device.hpp"
#include "lib/io/commit_guard.hpp"
#include "lib/io/output_file.hpp"
#include "lib/kmer/count/auto_device_counter.hpp"
#include "lib/kmer/database/writer.hpp"
#include "lib/report/counted.hpp"

namespace biogpu::app {
namespace {

constexpr char kFooter[] =
    "FASTA, FASTQ, SAM, BAM and CRAM, plain or gzip, mixed; - is standard input. The output does\n"
    "not depend on --threads, --device and --max-memory.\n\n"
    "Examples:\n"
    "  biogpu kmer count -m 21 -C -t 2 -o out.jf reads_1.fq reads_2.fq.gz\n"
    "  biogpu kmer count -m 21 -C --if panel.fa -o panel.jf reads.fq.gz\n"
    "  samtools cat a.bam b.bam | biogpu kmer count -m 31 -C -s 100M -o out.jf -\n\n";

kmer::Header database_header(const CountFlags& flags, const std::string& command_line) {
  kmer::Header header;
  header.format = flags.format();
  header.k = flags.k;
  header.canonical = flags.canonical;
  header.counter_bytes = flags.counter_bytes;
  header.max_reprobe = flags.reprobes;
  header.order = kmer::order_of_format(header.format, flags.k, flags.size);
  kmer::add_provenance(header, split_words(command_line), flags.no_provenance);
  return header;
}

kmer::CountOptions counter_options(const CountFlags& flags, const kmer::KeyOrder& order) {
  kmer::CountOptions options;
  options.k = flags.k;
  options.canonical = flags.canonical;
  options.min_quality_symbol = flags.min_quality_symbol();
  const CountBounds bounds = flags.counted_bounds();
  options.lower = bounds.lower;
  options.upper = bounds.upper;
  options.order = order;
  options.n_threads = flags.shared.threads;
  options.max_memory = flags.shared.max_memory;
  options.tmp_dir = flags.tmp_dir;
  return options;
}

class CountRun {
 public:
  CountRun(const CountFlags& flags, const std::string& command_line)
      : flags_(flags),
        log_("kmer count", flags.shared.quiet, flags.shared.verbose),
        report_(flags, command_line, log_),
        command_line_(command_line),
        input_(flags.k, flags.shared.threads, flags.shared.batch) {}

  void run() {
    const StageClock start("start", 1);
    const kmer::Header header = database_header(flags_, command_line_);
    const kmer::CountOptions options = counter_options(flags_, header.order);
    choose_counter(options);
    filter_.emplace(flags_, options);
    kmer::DatabaseWriter out(flags_.out_path, header);
    if (!flags_.timing.empty()) timing_.emplace(flags_.timing);
    if (!flags_.shared.json.empty()) json_.emplace(flags_.shared.json);
    report_.add_stage(start.stop());
    const double begin_s = log_.seconds();

    Progress progress("kmer count", flags_.shared.progress, flags_.shared.quiet);
    read(progress);
    report_.add_stages(input_.stages());
    progress.stage("counting");
    count();
    const double counted_s = log_.seconds();
    progress.stage("writing");
    write(out);
    progress.clear();
    if (timing_)
      timing_->write(fmt::format("Init     {:g}\nCounting {:g}\nWriting  {:g}\n", begin_s,
                                 counted_s - begin_s, log_.seconds() - counted_s));

    report_.log_result(*counter_, input_, output_->n_written());
    if (json_) json_->write(report_.json(*counter_, input_, output_->n_written(), out.bytes()));
    report_.log_stages();
    if (flags_.only_in.empty() && flags_.shard.is_whole()) report_.keep_rates(*counter_);
    commit(out);
  }

 private:
  void choose_counter(const kmer::CountOptions& options) {
    const SharedFlags& shared = flags_.shared;
    const bool fits = flags_.only_in.empty();
    DeviceRequest request = shared.device_request;
    if (!fits && request.kind != DeviceRequest::Kind::cpu) {
      if (request.kind != DeviceRequest::Kind::automatic)
        log_.warn("the k-mers of --if are counted on the CPU");
      request.kind = DeviceRequest::Kind::cpu;
    }
    const AutoDecision decision = decide_device(request, count_work(flags_));
    if (!decision.detail.empty()) log_.detail(decision.detail);
    counter_.emplace(
        options, kmer::AutoDeviceCounter::Request{request, decision, shared.max_device_memory},
        [this](const DeviceChoice& choice) {
          log_.info(fmt::format("{} ({}); k {}, {}", device_text(choice), choice.reason, flags_.k,
                                flags_.canonical ? "canonical" : "as read"));
        });
  }

  std::string device_text(const DeviceChoice& choice) const {
    if (!choice.on_gpu())
      return "cpu, " +
             report::counted(static_cast<std::uint64_t>(flags_.shared.threads), "threads");
    return fmt::format("{} x {}", choice.gpus.size(), choice.name);
  }

  void read(Progress& progress) {
    filter_->read(input_);
    if (!flags_.shard.is_whole()) input_.select(flags_.input, flags_.shard);
    input_.read_all(
        flags_.input, [&](const kmer::FeedSequences& feed) { counter_->add(feed); },
        [&](double fraction, std::uint64_t n_records) {
          progress.update(fraction, report::counted(n_records, "sequences"));
        });
  }

  void count() {
    const StageClock clock("count", flags_.shared.threads);
    counter_->finish();
    filter_->finish();
    report_.add_stage(clock.stop());
  }

  void write(kmer::DatabaseWriter& out) {
    output_.emplace(*counter_, *filter_, flags_.shared.threads);
    const pipeline::Times times = output_->write(out);
    out.finish();
    report_.add_output_stages(times, *counter_, out.bytes(), output_->workers_write());
  }

  // A full disk is met before any of the files has its name.
  void commit(kmer::DatabaseWriter& out) {
    for (auto* const file : {&timing_, &json_})
      if (*file) (*file)->finish();
    const io::CommitGuard guard;
    out.commit();
    for (auto* const file : {&timing_, &json_})
      if (*file) (*file)->commit();
  }

  const CountFlags& flags_;
  Log log_;
  CountReport report_;
  const std::string command_line_;
  std::optional<kmer::AutoDeviceCounter> counter_;
  std::optional<CountFilter> filter_;
  std::optional<io::OutputFile> timing_;
  std::optional<io::OutputFile> json_;
  KmerInput input_;
  std::optional<CountOutput> output_;
};

}  // namespace

Run add_kmer_count(CLI::App& command) {
  const auto flags = std::make_shared<CountFlags>();
  add_count_flags(command, *flags);
  command.footer(std::string(kFooter) + kExitCodes);
  return [flags](const std::string& command_line) {
    flags->resolve();
    run_and_keep<CountRun>(*flags, command_line);
  };
}

}  // namespace biogpu::app
