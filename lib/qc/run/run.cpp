#include "lib/qc/run/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "lib/core/error.hpp"
#include "lib/core/object_pool.hpp"
#include "lib/core/timed.hpp"
#include "lib/pipeline/in_turn.hpp"
#include "lib/pipeline/pipeline.hpp"
#include "lib/qc/batch/batch_processor.hpp"
#include "lib/qc/batch/batch_reader.hpp"
#include "lib/qc/batch/gpu_pool.hpp"
#include "lib/qc/output/output_set.hpp"
#include "lib/qc/run/ordered_counts.hpp"

namespace biogpu::qc {
namespace {

// Lets batches pass in their order, whoever computes them.
class Gate {
 public:
  template <class Function>
  void pass(std::uint64_t turn, Function&& function) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return broken_ || turn == next_; });
    if (broken_) throw Error(ErrorCode::failed, "another batch failed");
    function();
    ++next_;
    changed_.notify_all();
  }
  // No turn will come any more: whoever waits fails too.
  void break_open() {
    const std::lock_guard lock(mutex_);
    broken_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t next_ = 0;
  bool broken_ = false;
};

// A worker's own things, lent for the time of a batch.
struct Worker {
  explicit Worker(const Options& options) : compressor(options.compression, options.bgzf) {}
  WorkerSums sums;
  GzipCompressor compressor;
  std::unique_ptr<GpuSteps> gpu;  // where the run has one
};

class Run {
 public:
  Run(const Options& options, const RunSettings& settings)
      : options_(options),
        settings_(settings),
        outputs_(options, many_threads(settings)),
        reader_(options, whole_packs(settings.batch_records), settings.n_threads),
        gpus_(settings.choose_gpus, settings.wait_for_gpus, options) {
    if (options.duplicates) duplicates_.emplace(options);
    if (options.follows_fastp_1()) bounded_adapters_.emplace(options);
    if (options.overrepresentation) overrepresentation_.emplace(options);
  }

  RunResult run(const std::function<void(RunResult&)>& before_commit) {
    const int n_workers = std::max(1, settings_.n_threads);
    std::vector<Batch> batches(static_cast<std::size_t>(n_workers) + 3);
    const pipeline::Times times =
        pipeline::run({n_workers, static_cast<int>(batches.size())},
                      {[&](std::size_t slot) { return read(batches[slot]); },
                       [&](std::size_t slot) { compute(batches[slot]); },
                       [&](std::size_t slot) { write(batches[slot]); }});
    RunResult result;
    result.n_records = reader_.n_records();
    result.n_of_input = options_.shard.is_whole() ? result.n_records : reader_.n_of_input();
    result.bytes_read = reader_.bytes_read();
    result.file_bytes = reader_.file_bytes();
    result.bytes_written = outputs_.bytes_written();
    reader_.add_remarks(result.remarks);
    result.other_names = reader_.other_names();
    if (const std::string remark = gpus_.remark(); !remark.empty())
      result.remarks.push_back(remark);
    add_stages(times, result);
    const StageClock report("report", 1);
    sum_up(result);
    require_balance(result);
    result.n_device_records = n_on_device_;
    if (result.n_device_records > 0)
      result.stages.push_back({"device/steps", n_workers, 0, result.device_s, 0, "", 0});
    outputs_.finish();
    before_commit(result);
    result.stages.push_back(report.stop());
    const StageClock commit("commit", 1);
    outputs_.commit();
    result.stages.push_back(commit.stop());
    return result;
  }

 private:
  void add_stages(const pipeline::Times& times, RunResult& result) const {
    std::vector<StageTimes> three = pipeline::stages_of(times);
    three[0].busy_s = std::max(0.0, three[0].busy_s - reader_.wait_seconds());
    three[1].bytes = result.bytes_read;
    result.stages = {three[0], reader_.ahead_stage(), three[1]};
    const std::uint64_t n_bytes = outputs_.bytes_written();
    if (outputs_.takes_offsets())
      result.stages.push_back({"compute/write", three[1].n_threads, 0, write_s_, 0, "", n_bytes});
    else
      three[2].bytes = n_bytes;
    result.stages.push_back(three[2]);
    const StageTimes writers = outputs_.writer_stage();
    if (writers.n_threads > 0) result.stages.push_back(writers);
  }

  static std::size_t whole_packs(std::size_t n) {
    return std::max<std::size_t>(1, (n + kPackRecords - 1) / kPackRecords) * kPackRecords;
  }

  // Whether files may have threads of their own beside the workers.
  static bool many_threads(const RunSettings& settings) { return settings.n_threads > 4; }

  void compute(Batch& batch) {
    try {
      compute_batch(batch);
    } catch (...) {
      gate_.break_open();
      throw;
    }
  }

  void compute_batch(Batch& batch) {
    Worker& worker = workers_.acquire(options_);
    if (!worker.gpu) worker.gpu = gpus_.make();
    if (options_.dedup) {
      duplicates_->make_keys(batch);
      gate_.pass(batch.first_record / whole_packs(settings_.batch_records),
                 [&] { duplicates_->look_up(batch); });
    }
    batch.on_device = worker.gpu && run_on_device(worker, batch);
    // A device makes the keys too.
    if (duplicates_ && !options_.dedup && !batch.on_device) duplicates_->make_keys(batch);
    if (options_.paired())
      process_pairs(batch, options_, worker.sums);
    else
      process_single(batch, options_, worker.sums);
    if (outputs_.compresses()) outputs_.compress(batch, worker.compressor);
    workers_.release(worker);
    if (outputs_.takes_offsets()) write_in_turn(batch);
  }

  // Texts are written by who made them, from its cache, where all batches before have their places.
  // Those that are ready before their turn are left to write().
  void write_in_turn(Batch& batch) {
    batch.written = in_turn_.ready(batch.turn, [this, &batch] { outputs_.place(batch); });
    if (batch.written) write_at(batch);
  }

  void write_at(Batch& batch) {
    double seconds = 0;
    timed(seconds, [&] { outputs_.write_at(batch); });
    const std::lock_guard lock(mutex_);
    write_s_ += seconds;
  }

  // A device that was not insisted on may be short of memory.
  bool run_on_device(Worker& worker, Batch& batch) {
    try {
      return worker.gpu->run(batch);
    } catch (const Error& error) {
      if (settings_.wait_for_gpus || error.code() != ErrorCode::device_memory) throw;
      return false;
    }
  }

  bool read(Batch& batch) {
    batch.turn = n_read_++;
    batch.written = false;
    return reader_.next(batch);
  }

  void write(Batch& batch) {
    if (!outputs_.takes_offsets())
      outputs_.write(batch);
    else if (!batch.written)
      write_at(batch);
    // What is counted here does not change what is written.
    if (duplicates_ && !options_.dedup) duplicates_->look_up(batch);
    if (bounded_adapters_) bounded_adapters_->count(batch);
    if (overrepresentation_) overrepresentation_->count(batch);
    n_written_ += batch.n_records;
    if (batch.on_device) n_on_device_ += batch.n_records;
    if (settings_.progress) settings_.progress(reader_.fraction_read(), n_written_);
  }

  void sum_up(RunResult& result) {
    Summary& summary = result.summary;
    for (Worker& worker : workers_.all()) {
      if (worker.gpu) {
        worker.gpu->add_stats(summary);
        result.device_s += worker.gpu->device_seconds();
        result.device_bytes += worker.gpu->device_bytes();
      }
      summary.counts.add(worker.sums.counts);
      summary.flow.add(worker.sums.flow);
      for (std::size_t m = 0; m < 2; ++m) {
        const ReadStats unchanged = worker.sums.unchanged[m].take();
        summary.before[m].add(unchanged);
        summary.after[m].add(unchanged);
        summary.before[m].add(worker.sums.before[m].take());
        summary.after[m].add(worker.sums.after[m].take());
      }
    }
    if (bounded_adapters_) bounded_adapters_->report(summary);
    for (std::size_t m = 0; m < 2 && !bounded_adapters_; ++m) {
      std::vector<const TextCounts*> parts;
      for (const Worker& worker : workers_.all()) parts.push_back(&worker.sums.counts.adapters[m]);
      summary.adapters[m] = common_texts(parts, kShareReported);
    }
    if (duplicates_) duplicates_->report(summary);
    if (overrepresentation_) overrepresentation_->report(summary);
    if (!options_.part_out.empty()) share(result.partial);
  }

  // Every read that came in went somewhere, and the statistics saw it.
  void require_balance(const RunResult& result) const {
    const Summary& summary = result.summary;
    const std::uint64_t n_in = result.n_records * (options_.paired() ? 2 : 1);
    const std::uint64_t n_counted = summary.before[0].n_reads + summary.before[1].n_reads;
    const std::uint64_t n_bases = summary.before[0].n_bases + summary.before[1].n_bases;
    if (summary.flow.reads_in() != n_in || n_counted != n_in || summary.flow.bases_in() != n_bases)
      throw Error(
          ErrorCode::failed,
          fmt::format("the numbers do not add up: {} reads were read, {} counted with {} "
                      "bases, {} written or removed with {}; please report this",
                      n_in, n_counted, n_bases, summary.flow.reads_in(), summary.flow.bases_in()));
  }

  void share(PartialReport& partial) {
    if (bounded_adapters_) {
      bounded_adapters_->share(partial);
    } else {
      for (auto& all : partial.adapters) all.resize(1);
      for (const Worker& worker : workers_.all())
        for (std::size_t m = 0; m < 2; ++m)
          for (const auto& [text, n] : worker.sums.counts.adapters[m].list())
            partial.adapters[m][0].add(text, n);
    }
    if (duplicates_) partial.keys = duplicates_->take_keys();
    if (overrepresentation_) overrepresentation_->share(partial);
  }

  const Options& options_;
  const RunSettings& settings_;
  OutputSet outputs_;
  BatchReader reader_;
  GpuPool gpus_;
  std::optional<Duplicates> duplicates_;
  std::optional<BoundedAdapters> bounded_adapters_;
  std::optional<Overrepresentation> overrepresentation_;
  Gate gate_;
  ObjectPool<Worker> workers_;
  std::mutex mutex_;  // guards write_s_
  pipeline::InTurn in_turn_;
  double write_s_ = 0;
  std::uint64_t n_read_ = 0;
  std::uint64_t n_written_ = 0;
  std::uint64_t n_on_device_ = 0;
};

}  // namespace

RunResult run(const Options& options, const RunSettings& settings,
              const std::function<void(RunResult&)>& before_commit) {
  const auto run = std::make_shared<Run>(options, settings);
  RunResult result = run->run(before_commit);
  result.held = run;
  return result;
}

}  // namespace biogpu::qc
