// `biogpu kmer count`: files in, the counter of the device chosen, one database out.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/biogpu/kmer/commands.hpp"
#include "apps/biogpu/kmer/count/count_flags.hpp"
#include "apps/biogpu/kmer/count/input.hpp"
#include "apps/biogpu/run/cost_tasks.hpp"
#include "apps/biogpu/run/log.hpp"
#include "apps/biogpu/run/process_end.hpp"
#include "apps/biogpu/run/run_summary.hpp"
#include "apps/biogpu/run/start_stages.hpp"
#include "apps/biogpu/terminal/progress.hpp"
#include "lib/core/auto_device.hpp"
#include "lib/core/error.hpp"
#include "lib/io/commit_guard.hpp"
#include "lib/io/output_file.hpp"
#include "lib/kmer/count/chosen_counter.hpp"
#include "lib/kmer/count/selection.hpp"
#include "lib/kmer/database/bloom_counter.hpp"
#include "lib/kmer/database/writer.hpp"
#include "lib/pipeline/in_turn.hpp"
#include "lib/pipeline/pipeline.hpp"

namespace biogpu::app {
namespace {

constexpr char kFooter[] =
    "FASTA, FASTQ, SAM, BAM and CRAM, plain or gzip, mixed; - is standard input. The output does\n"
    "not depend on --threads, --device and --max-memory.\n\n"
    "Examples:\n"
    "  biogpu kmer count -m 21 -C -t 2 -o out.jf reads_1.fq reads_2.fq.gz\n"
    "  biogpu kmer count -m 21 -C --if panel.fa -o panel.jf reads.fq.gz\n"
    "  samtools cat a.bam b.bam | biogpu kmer count -m 31 -C -s 100M -o out.jf -\n\n";

class CountRun {
 public:
  CountRun(const CountFlags& flags, std::string command_line)
      : flags_(flags),
        command_line_(std::move(command_line)),
        log_("kmer count", flags.shared.quiet, flags.shared.verbose),
        input_(flags.k, flags.shared.threads, flags.shared.batch) {}

  void run() {
    const StageClock start("start", 1);
    header_.format = flags_.format();
    header_.k = flags_.k;
    header_.canonical = flags_.canonical;
    header_.counter_bytes = flags_.counter_bytes;
    header_.max_reprobe = flags_.reprobes;
    header_.order = kmer::order_of_format(header_.format, flags_.k, flags_.size);
    kmer::add_provenance(header_, split_words(command_line_), flags_.no_provenance);
    choose();
    kmer::DatabaseWriter out(flags_.out_path, header_);
    if (!flags_.timing.empty()) timing_.emplace(flags_.timing);
    if (!flags_.shared.json.empty()) json_.emplace(flags_.shared.json);
    stages_.push_back(start.stop());
    const double begin_s = log_.seconds();
    Progress progress("kmer count", flags_.shared.progress, flags_.shared.quiet);
    read(progress);
    add_stages(input_.stages());
    progress.stage("counting");
    const StageClock count("count", flags_.shared.threads);
    counter_->finish();
    if (only_) only_->count_bins();
    stages_.push_back(count.stop());
    const double counted_s = log_.seconds();
    progress.stage("writing");
    write(out);
    out.finish();
    progress.clear();
    const double end_s = log_.seconds();
    if (timing_)
      timing_->write(fmt::format("Init     {:g}\nCounting {:g}\nWriting  {:g}\n", begin_s,
                                 counted_s - begin_s, end_s - counted_s));
    stages_[stages_.size() - (workers_write_ ? 2 : 1)].bytes = out.bytes();
    summarise(out.bytes());
    log_.stages(stages_);
    if (flags_.only_in.empty() && flags_.shard.is_whole()) keep_rates(counter_->start_seconds());
    publish(out);
  }

 private:
  void add_output_stages(const pipeline::Times& times) {
    std::vector<StageTimes> stages = pipeline::stages_of(times);
    stages[1].name = "sort";
    if (kmer::GpuCounting* const gpu = counter_->gpu(); gpu != nullptr) {
      const kmer::GpuCountTimes device = gpu->times();
      for (const auto& [name, seconds] : {std::pair{"device/copy", device.copy_s},
                                          {"device/place", device.place_s},
                                          {"device/sort", device.sort_s},
                                          {"device/runs", device.runs_s}})
        stages_.push_back({name, 1, 0, seconds, 0, "", 0});
      stages[0].name = "fetch";
      stages[1].name = "decode";
    } else {
      stages.erase(stages.begin());  // a number is all that is read
    }
    add_stages(stages);
  }

  void add_stages(const std::vector<StageTimes>& more) {
    stages_.insert(stages_.end(), more.begin(), more.end());
  }

  // A full disk is met before any of the files has its name.
  void publish(kmer::DatabaseWriter& out) {
    for (auto* const file : {&timing_, &json_})
      if (*file) (*file)->finish();
    const io::CommitGuard guard;
    out.commit();
    for (auto* const file : {&timing_, &json_})
      if (*file) (*file)->commit();
  }

  kmer::CountOptions options() const {
    kmer::CountOptions options;
    options.k = flags_.k;
    options.canonical = flags_.canonical;
    options.least_quality = flags_.least_quality();
    const CountBounds bounds = flags_.counted_bounds();
    options.lower = bounds.lower;
    options.upper = bounds.upper;
    options.order = header_.order;
    options.n_threads = flags_.shared.threads;
    options.max_memory = flags_.shared.max_memory;
    options.tmp_dir = flags_.tmp_dir;
    return options;
  }

  cost::Work work() const {
    cost::Work work;
    work.task = &works::kKmerCount;
    work.n_threads = flags_.shared.threads;
    for (const std::string& path : flags_.input.paths()) add_file(work, path);
    work.units = work.bytes;
    return work;
  }

  void keep_rates(double start_s) {
    kmer::GpuCounting* const gpu = counter_->gpu();
    cost::Observed seen;
    seen.work = work();
    seen.on_gpu = gpu != nullptr;
    for (const StageTimes& stage : stages_) {
      if (stage.name == "read") seen.read_s = read_seconds(stage);
      // Counting on a device is its own time, not that of threads.
      if (stage.name == "scan" || stage.name == "sort" || stage.name == "decode" ||
          (stage.name == "count" && !seen.on_gpu))
        seen.workers_s += stage.busy_s;
    }
    if (seen.on_gpu) {
      const kmer::GpuCountTimes times = gpu->times();
      seen.transfer_s = times.copy_s;
      seen.device_s = times.place_s + times.sort_s + times.runs_s;
      seen.start_s = start_s;
    }
    keep_rates_of_run(seen);
  }

  void choose() {
    const SharedFlags& shared = flags_.shared;
    const bool fits = flags_.only_in.empty();
    DeviceRequest request = shared.device_request;
    if (!fits && request.kind != DeviceRequest::Kind::cpu) {
      if (request.kind != DeviceRequest::Kind::automatic)
        log_.warn("the k-mers of --if are counted on the CPU");
      request.kind = DeviceRequest::Kind::cpu;
    }
    const AutoDecision decision = decide_device(request, work());
    if (!decision.detail.empty()) log_.detail(decision.detail);
    counter_.emplace(
        options(),
        kmer::ChosenCounter::Request{request, decision.worth_gpu, shared.max_device_memory},
        [this, request, decision](DeviceChoice& choice) {
          explain(choice, request, decision);
          log_.info(fmt::format("{} ({}); k {}, {}", device_text(choice), choice.reason, flags_.k,
                                flags_.canonical ? "canonical" : "as read"));
        });
    if (!fits) {
      // As in Jellyfish, the limit of quality is one of the reads.
      kmer::CountOptions every_base = options();
      every_base.least_quality = 0;
      only_.emplace(every_base);
    }
    if (!flags_.bloom_counter.empty()) load_bloom_counter();
  }

  std::string device_text(const DeviceChoice& choice) const {
    if (!choice.on_gpu()) return fmt::format("cpu, {} threads", flags_.shared.threads);
    return fmt::format("{} x {}", choice.gpus.size(), choice.name);
  }

  void load_bloom_counter() {
    bloom_ = kmer::BloomCounter::read(flags_.bloom_counter);
    if (bloom_->k() != flags_.k || bloom_->canonical() != flags_.canonical)
      throw Error(ErrorCode::bad_input,
                  fmt::format("{}: is for k {}{}; expected k {}{}", flags_.bloom_counter,
                              bloom_->k(), bloom_->canonical() ? ", canonical" : "", flags_.k,
                              flags_.canonical ? ", canonical" : ""));
  }

  void read(Progress& progress) {
    for (const std::string& path : flags_.only_in)
      input_.read_file(path, [&](const KmerInput::Read& read) { only_->add(read); });
    if (!flags_.shard.is_whole()) input_.select(flags_.input, flags_.shard);
    input_.read_all(
        flags_.input, [&](const KmerInput::Read& read) { counter_->add(read); },
        [&](double fraction, std::uint64_t n_records) {
          progress.update(fraction, fmt::format("{} sequences", n_records));
        });
  }

  // On its way from the counter into the file.
  struct Item {
    std::size_t index = 0;
    kmer::GpuCounting::Piece piece;
    kmer::CountBlock block;
    kmer::CountBlock wanted;
    std::string bytes;
    std::uint64_t offset = 0;  // of bytes in the file
    bool written = false;      // there
  };

  void write(kmer::DatabaseWriter& out) {
    kmer::GpuCounting* const gpu = counter_->gpu();
    std::vector<Item>& items = items_;
    // A device fills them in page-locked memory, which takes long to get.
    const auto n_threads = static_cast<std::size_t>(flags_.shared.threads);
    items.resize(gpu != nullptr ? n_threads + 4 : 2 * n_threads + 1);
    std::size_t next = 0;
    // One thread that writes what others made is slower than a device counts.
    workers_write_ = out.takes_offsets();
    pipeline::InTurn in_turn;
    const pipeline::Times times = pipeline::run(
        {flags_.shared.threads, static_cast<int>(items.size())},
        {[&](std::size_t slot) {
           items[slot].index = next++;
           if (gpu != nullptr) return gpu->next(items[slot].piece);
           return items[slot].index < counter_->cpu().n_blocks();
         },
         [&](std::size_t slot) {
           Item& item = items[slot];
           if (gpu != nullptr) {
             gpu->restore(item.piece);
             std::swap(item.block, item.piece.block);
           } else {
             counter_->cpu().take_block(item.index, item.block);
           }
           select(item.index, item.block, item.wanted);
           out.prepare(item.block, item.bytes);
           if (!workers_write_) return;
           item.written = in_turn.ready(
               item.index, [&item, &out] { item.offset = out.reserve(item.block.size()); });
           if (item.written) out.write_at(item.offset, item.bytes);
         },
         [&](std::size_t slot) {
           const Item& item = items[slot];
           n_written_ += item.block.size();
           if (!workers_write_)
             out.write(item.block, item.bytes);
           else if (!item.written)
             out.write_at(item.offset, item.bytes);
         }});
    add_output_stages(times);
  }

  // The filters that need the counts. `wanted` is room to work in.
  void select(std::size_t index, kmer::CountBlock& block, kmer::CountBlock& wanted) {
    if (only_) {
      only_->take_block(index, wanted);
      kmer::keep_wanted(header_.order, wanted, block);
    }
    if (flags_.bloom_size > 0)
      for (std::uint64_t& count : block.counts) --count;
    if (bloom_) filter_by_bloom_counter(block);
    if (only_)
      kmer::keep_if(block, [&](const std::uint64_t*, std::uint64_t count) {
        return flags_.bounds.holds(count);
      });
  }

  // The k-mers of --if stay, with a count of 0.
  void filter_by_bloom_counter(kmer::CountBlock& block) const {
    if (!only_)
      return kmer::keep_if(
          block, [&](const std::uint64_t* key, std::uint64_t) { return bloom_->count(key) > 1; });
    for (std::size_t i = 0; i < block.size(); ++i)
      if (block.counts[i] > 0 && bloom_->count(block.key(i)) < 2) block.counts[i] = 0;
  }

  void summarise(std::uint64_t n_bytes) {
    kmer::GpuCounting* const gpu = counter_->gpu();
    const kmer::CountTotals totals = gpu != nullptr ? gpu->totals() : counter_->cpu().totals();
    const double wall_s = log_.seconds();
    log_.info(fmt::format("{} k-mers, {} distinct, {} written, in {:.2f} s: {:.1f} M k-mers/s",
                          totals.n_windows, totals.n_distinct, n_written_, wall_s,
                          1e-6 * static_cast<double>(totals.n_windows) / wall_s));
    if (gpu != nullptr) {
      const kmer::GpuCountTimes times = gpu->times();
      log_.detail(fmt::format(
          "device: copy {:.4f} s, place {:.4f} s, sort {:.4f} s, runs {:.4f} s: {:.2f} G k-mers/s",
          times.copy_s, times.place_s, times.sort_s, times.runs_s,
          1e-9 * static_cast<double>(totals.n_windows) /
              (times.place_s + times.sort_s + times.runs_s)));
    }
    if (json_) json_->write(json_text(totals, wall_s, n_bytes));
  }

  std::string json_text(const kmer::CountTotals& totals, double wall_s, std::uint64_t n_bytes) {
    kmer::GpuCounting* const gpu = counter_->gpu();
    report::RunSummary run = begin_summary(command_line_, flags_.shared, counter_->choice(), log_);
    run.wall_s = wall_s;
    run.inputs = input_.files();
    run.outputs.push_back({flags_.out_path, n_bytes});
    append_stages(run.stages, stages_);
    run.result = {{"k", flags_.k},
                  {"canonical", flags_.canonical},
                  {"kmers", totals.n_windows},
                  {"distinct", totals.n_distinct},
                  {"written", n_written_},
                  {"spilled_bytes", gpu != nullptr ? 0 : counter_->cpu().spilled_bytes()}};
    if (gpu != nullptr) {
      const kmer::GpuCountTimes times = gpu->times();
      run.gpu_s = times.copy_s + times.place_s + times.sort_s + times.runs_s;
      run.peak_device_bytes = gpu->peak_device_bytes();
      run.result["gpu"] = {{"copy_s", times.copy_s},
                           {"place_s", times.place_s},
                           {"sort_s", times.sort_s},
                           {"runs_s", times.runs_s}};
    }
    return report::json_summary(run);
  }

  const CountFlags& flags_;
  const std::string command_line_;
  Log log_;
  kmer::Header header_;
  std::optional<kmer::ChosenCounter> counter_;
  std::optional<kmer::Counter> only_;  // what --if names
  std::optional<kmer::BloomCounter> bloom_;
  std::optional<io::OutputFile> timing_;
  std::optional<io::OutputFile> json_;
  KmerInput input_;
  std::vector<Item> items_;  // kept with the counter: their memory is that of devices
  std::uint64_t n_written_ = 0;
  bool workers_write_ = false;
  std::vector<StageTimes> stages_;
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
