#include "lib/qc/run/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "lib/core/error.hpp"
#include "lib/pipeline/pipeline.hpp"
#include "lib/qc/input/read_ahead.hpp"
#include "lib/qc/output/output_set.hpp"
#include "lib/qc/run/process.hpp"
#include "lib/qc/stats/duplicates.hpp"
#include "lib/qc/stats/overrepresented.hpp"

namespace biogpu::qc {
namespace {

// The input as batches of whole packs, mates put together.
class BatchReader {
 public:
  BatchReader(const Options& options, std::size_t batch_records, int n_threads)
      : options_(options), file1_(options.in1, options.lenient, n_threads) {
    const std::size_t per_pair = options.interleaved ? 2 : 1;
    ahead1_.emplace(file1_, batch_records * per_pair, options.reads_to_process * per_pair);
    if (options.in2.empty()) return;
    file2_.emplace(options.in2, options.lenient, n_threads);
    ahead2_.emplace(*file2_, batch_records, options.reads_to_process);
  }

  bool next(Batch& batch) {
    batch.first_record = n_records_;
    batch.n_records = 0;
    if (ended_) return false;
    const bool more1 = ahead1_->next(batch.chunk1);
    std::size_t n1 = more1 ? batch.chunk1.records.size() : 0;
    if (options_.interleaved) {
      if (n1 % 2 != 0) unequal(file1_, n1 / 2, "its last read has no mate");
      n1 /= 2;
    }
    batch.n_records = n1;
    if (ahead2_) {
      const bool more2 = ahead2_->next(batch.chunk2);
      const std::size_t n2 = more2 ? batch.chunk2.records.size() : 0;
      if (n1 != n2) {
        const bool first_is_shorter = n1 < n2;
        unequal(first_is_shorter ? file1_ : *file2_, std::min(n1, n2),
                "the file of the other mates has more");
      }
      batch.n_records = std::min(n1, n2);
    }
    n_records_ += batch.n_records;
    return batch.n_records > 0;
  }

  std::uint64_t n_records() const { return n_records_; }
  std::uint64_t bytes_read() const {
    return file1_.bytes_read() + (file2_ ? file2_->bytes_read() : 0);
  }
  double fraction_read() const {
    const std::uint64_t bytes = file1_.file_bytes();
    return bytes == 0 ? 0 : static_cast<double>(file1_.bytes_read()) / static_cast<double>(bytes);
  }
  void add_remarks(std::vector<std::string>& remarks) const {
    remarks.insert(remarks.end(), file1_.remarks().begin(), file1_.remarks().end());
    if (file2_) remarks.insert(remarks.end(), file2_->remarks().begin(), file2_->remarks().end());
    remarks.insert(remarks.end(), remarks_.begin(), remarks_.end());
  }

 private:
  // The mates do not go together from here on.
  void unequal(const FastqFile& file, std::size_t n_here, const char* what) {
    const std::uint64_t n = n_records_ + n_here;
    const std::string text = fmt::format("{}: ends after record {}; {}", file.label(), n, what);
    if (!options_.lenient) throw Error(ErrorCode::bad_input, text + "; are the files of one run?");
    remarks_.push_back("WARNNIG: different read numbers: " + text);
    ended_ = true;
  }

  const Options& options_;
  FastqFile file1_;
  std::optional<FastqFile> file2_;
  std::optional<ReadAhead> ahead1_;
  std::optional<ReadAhead> ahead2_;
  std::uint64_t n_records_ = 0;
  std::vector<std::string> remarks_;
  bool ended_ = false;
};

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

// The duplicates of a run. Keys are computed by workers; sets are asked in the order of the input.
class Duplicates {
 public:
  explicit Duplicates(const Options& options) : options_(options), hash_(options) {
    for (int t = 0; t < hash_.n_tables(); ++t) sets_.emplace_back(hash_.n_bits());
  }

  void make_keys(Batch& batch) const {
    batch.keys.clear();
    const auto view = [](FastqChunk& chunk, std::size_t i) {
      const RecordPlace& place = chunk.records[i];
      return std::string_view(chunk.sequence(place), place.length);
    };
    for (std::size_t i = 0; i < batch.n_records; ++i) {
      std::string_view first = view(batch.chunk1, options_.interleaved ? 2 * i : i);
      std::string_view second;
      if (options_.interleaved)
        second = view(batch.chunk1, 2 * i + 1);
      else if (options_.paired())
        second = view(batch.chunk2, i);
      for (int t = 0; t < hash_.n_tables(); ++t) batch.keys.push_back(hash_.key(t, first, second));
    }
  }

  void look_up(Batch& batch) {
    batch.is_duplicate.resize(batch.n_records);
    const std::uint64_t* key = batch.keys.data();
    for (std::size_t i = 0; i < batch.n_records; ++i) {
      bool seen = true;
      for (KeySet& set : sets_) seen = !set.insert(*key++) && seen;
      batch.is_duplicate[i] = seen;
      n_duplicates_ += seen;
    }
    n_evaluated_ += batch.n_records;
  }

  void report(Summary& summary) const {
    summary.n_evaluated = n_evaluated_;
    summary.n_duplicates = n_duplicates_;
  }

 private:
  const Options& options_;
  DuplicateHash hash_;
  std::vector<KeySet> sets_;
  std::uint64_t n_evaluated_ = 0;
  std::uint64_t n_duplicates_ = 0;
};

// Counts over-represented sequences in one of `sampling` reads. Each of fastp's workers counts its
// own reads to sample, so that a read's turn depends on the worker of its pack; batches must come
// in order.
class Overrepresentation {
 public:
  explicit Overrepresentation(const Options& options)
      : options_(options),
        counters_{OverrepresentedCounter(options.overrepresented1, options.cycles1),
                  OverrepresentedCounter(options.overrepresented2, options.cycles2)} {
    const auto n_workers = static_cast<std::size_t>(options.virtual_workers);
    for (std::size_t m = 0; m < 2; ++m) {
      const std::size_t n = candidates(m).size();
      for (Counts* counts : {&before_[m], &after_[m]}) {
        counts->n_reads.resize(n_workers);
        counts->found.resize(n);
      }
    }
  }

  void count(Batch& batch) {
    const std::size_t n_mates = options_.paired() ? 2 : 1;
    for (std::size_t i = 0; i < batch.n_records; ++i)
      for (std::size_t m = 0; m < n_mates; ++m)
        add(before_[m], m, (batch.first_record + i) / kPackRecords, original(batch, i, m));
    for (std::size_t m = 0; m < n_mates; ++m)
      for (const Batch::Kept& kept : batch.kept[m]) add(after_[m], m, kept.pack, kept.sequence);
  }

  void report(Summary& summary) const {
    for (std::size_t m = 0; m < 2; ++m)
      for (std::size_t c = 0; c < candidates(m).size(); ++c) {
        summary.overrepresented_before[m].emplace_back(candidates(m)[c], before_[m].found[c]);
        summary.overrepresented_after[m].emplace_back(candidates(m)[c], after_[m].found[c]);
      }
  }

 private:
  struct Counts {
    std::vector<std::uint64_t> n_reads;  // by virtual worker
    std::vector<std::uint64_t> found;    // by candidate
  };

  const std::vector<std::string>& candidates(std::size_t m) const {
    return m == 0 ? options_.overrepresented1 : options_.overrepresented2;
  }

  std::string_view original(Batch& batch, std::size_t i, std::size_t m) const {
    FastqChunk& chunk = m == 0 || options_.interleaved ? batch.chunk1 : batch.chunk2;
    const RecordPlace& place = chunk.records[options_.interleaved ? 2 * i + m : i];
    return {chunk.sequence(place), place.length};
  }

  void add(Counts& counts, std::size_t m, std::uint64_t pack, std::string_view read) {
    std::uint64_t& n = counts.n_reads[pack % counts.n_reads.size()];
    if (n++ % static_cast<std::uint64_t>(options_.overrepresentation_sampling) == 0)
      counters_[m].count(read, counts.found);
  }

  const Options& options_;
  std::array<OverrepresentedCounter, 2> counters_;
  std::array<Counts, 2> before_;
  std::array<Counts, 2> after_;
};

// A worker's own things, lent for the time of a batch.
struct Worker {
  explicit Worker(const Options& options) : packer(options.compression, options.bgzf) {}
  WorkerSums sums;
  GzipPacker packer;
};

class Run {
 public:
  Run(const Options& options, const RunSettings& settings)
      : options_(options),
        settings_(settings),
        outputs_(options),
        reader_(options, whole_packs(settings.batch_records), settings.n_threads) {
    if (options.duplicates) duplicates_.emplace(options);
    if (options.overrepresentation) overrepresentation_.emplace(options);
  }

  RunResult run(const std::function<void(const RunResult&)>& before_commit) {
    const int n_workers = std::max(1, settings_.n_threads);
    std::vector<Batch> batches(static_cast<std::size_t>(n_workers) + 3);
    const pipeline::Times times =
        pipeline::run({n_workers, static_cast<int>(batches.size())},
                      {[&](std::size_t slot) { return reader_.next(batches[slot]); },
                       [&](std::size_t slot) { compute(batches[slot]); },
                       [&](std::size_t slot) { write(batches[slot]); }});
    RunResult result;
    result.read_s = times.read_s;
    result.compute_s = times.compute_s;
    result.write_s = times.write_s;
    result.n_records = reader_.n_records();
    result.bytes_read = reader_.bytes_read();
    reader_.add_remarks(result.remarks);
    sum_up(result.summary);
    before_commit(result);
    outputs_.commit();
    return result;
  }

 private:
  static std::size_t whole_packs(std::size_t n) {
    return std::max<std::size_t>(1, (n + kPackRecords - 1) / kPackRecords) * kPackRecords;
  }

  void compute(Batch& batch) {
    try {
      compute_batch(batch);
    } catch (...) {
      gate_.break_open();
      throw;
    }
  }

  void compute_batch(Batch& batch) {
    std::unique_ptr<Worker> worker = borrow();
    if (duplicates_) {
      duplicates_->make_keys(batch);
      if (options_.dedup)
        gate_.pass(batch.first_record / whole_packs(settings_.batch_records),
                   [&] { duplicates_->look_up(batch); });
    }
    if (options_.paired())
      process_pairs(batch, options_, worker->sums);
    else
      process_single(batch, options_, worker->sums);
    if (outputs_.compresses()) outputs_.pack(batch, worker->packer);
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(worker));
  }

  void write(Batch& batch) {
    // Where no read is dropped for it, the order of the look-ups does not matter.
    if (duplicates_ && !options_.dedup) duplicates_->look_up(batch);
    if (overrepresentation_) overrepresentation_->count(batch);
    outputs_.write(batch);
    n_written_ += batch.n_records;
    if (settings_.progress) settings_.progress(reader_.fraction_read(), n_written_);
  }

  std::unique_ptr<Worker> borrow() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) return std::make_unique<Worker>(options_);
    std::unique_ptr<Worker> worker = std::move(idle_.back());
    idle_.pop_back();
    return worker;
  }

  void sum_up(Summary& summary) {
    for (const auto& worker : idle_) {
      summary.tally.add(worker->sums.tally);
      for (std::size_t m = 0; m < 2; ++m) {
        const ReadStats alike = worker->sums.alike[m].take();
        summary.before[m].add(alike);
        summary.after[m].add(alike);
        summary.before[m].add(worker->sums.before[m].take());
        summary.after[m].add(worker->sums.after[m].take());
      }
    }
    if (duplicates_) duplicates_->report(summary);
    if (overrepresentation_) overrepresentation_->report(summary);
  }

  const Options& options_;
  const RunSettings& settings_;
  OutputSet outputs_;
  BatchReader reader_;
  std::optional<Duplicates> duplicates_;
  std::optional<Overrepresentation> overrepresentation_;
  Gate gate_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Worker>> idle_;
  std::uint64_t n_written_ = 0;
};

}  // namespace

RunResult run(const Options& options, const RunSettings& settings,
              const std::function<void(const RunResult&)>& before_commit) {
  return Run(options, settings).run(before_commit);
}

}  // namespace biogpu::qc
