// The GPU backend's side of lib/qc/batch/gpu_steps.hpp.
#include <algorithm>
#include <chrono>
#include <cstring>

#include "gpu/qc/batch_steps.hpp"
#include "gpu/rt/device.hpp"
#include "lib/core/errors_gpu.hpp"
#include "lib/qc/batch/gpu_steps.hpp"
#include "lib/qc/stats/duplicates.hpp"
#include "lib/qc/steps/adapter.hpp"
#include "lib/qc/steps/filter.hpp"
#include "lib/qc/steps/overlap.hpp"

namespace biogpu::qc {
namespace {

using gpu::qc::kMaxLength;

static_assert(gpu::qc::kLetters == kLetters && gpu::qc::kKmers == kKmers);

gpu::qc::WindowRule window_rule(const WindowCut& cut) {
  if (!cut.enabled) return {};
  const int quality = kPhredOffset + cut.quality;
  return {cut.window, cut.window * quality, quality};
}

gpu::qc::AdapterText add_adapter(std::string& texts, const std::string& adapter) {
  const auto begin = static_cast<std::uint32_t>(texts.size());
  texts += adapter;
  return {begin, static_cast<std::int32_t>(adapter.size())};
}

void set_trimming(const Options& options, gpu::qc::BatchOptions& out) {
  gpu::qc::StepRules& rules = out.rules;
  const bool by_both = options.umi_location == UmiLocation::per_read;
  const FixedTrim* trims[] = {&options.trim1, &options.trim2};
  const UmiLocation places[] = {UmiLocation::read1, UmiLocation::read2};
  for (int m = 0; m < 2; ++m) {
    const bool has_umi = options.umi && (by_both || options.umi_location == places[m]);
    rules.trim[m] = {trims[m]->front, trims[m]->tail, trims[m]->max_length,
                     has_umi ? options.umi_length : 0};
  }
  rules.umi_skip = options.umi_skip;
  rules.cut_front = window_rule(options.cut_front);
  rules.cut_tail = window_rule(options.cut_tail);
  rules.cut_right = window_rule(options.cut_right);
  rules.poly_g_min = options.trim_poly_g ? options.poly_g_min_len : 0;
  rules.poly_x_min = options.trim_poly_x ? options.poly_x_min_len : 0;
}

void set_adapters(const Options& options, gpu::qc::BatchOptions& out) {
  gpu::qc::StepRules& rules = out.rules;
  rules.trims_adapters = options.adapter_trimming;
  if (options.has_adapter1()) rules.adapter[0] = add_adapter(out.adapter_text, options.adapter1);
  if (options.has_adapter2()) rules.adapter[1] = add_adapter(out.adapter_text, options.adapter2);
  for (const std::string& adapter : options.fasta_adapters)
    out.fasta_adapters.push_back(add_adapter(out.adapter_text, adapter));
  rules.fasta_match_require = fasta_match_require(options.fasta_adapters.size());
  rules.gapped_adapters = options.follows_fastp_1();
  rules.counts_fasta_adapters = options.follows_fastp_1() && !options.fasta_adapters.empty();
  rules.gapped_overlap = options.gapped_overlap;
  if (options.follows_fastp_1()) rules.dimer_max_len = options.dimer_max_len;
  rules.corrects = options.correction;
  rules.overlap_require = options.overlap_require;
  const OverlapRules overlap{options.overlap_require, options.overlap_diff_limit,
                             options.overlap_diff_percent};
  for (int length = 0; length <= kMaxLength; ++length)
    out.max_differing.push_back(static_cast<std::int16_t>(max_differing(length, overlap)));
}

void set_filters(const Options& options, gpu::qc::BatchOptions& out) {
  gpu::qc::StepRules& rules = out.rules;
  rules.filters_quality = options.quality_filter;
  rules.qualified = kPhredOffset + options.qualified_quality;
  rules.unqualified_percent = options.unqualified_percent;
  rules.average_quality = options.average_quality;
  rules.n_base_limit = options.n_base_limit;
  rules.filters_length = options.length_filter;
  rules.length_required = options.length_required;
  rules.length_limit = options.length_limit;
  if (!options.complexity_filter) return;
  for (int length = 0; length <= kMaxLength; ++length) {
    int min_changes = 0;
    while (min_changes <= length && !is_complex(min_changes, length, options.complexity_percent))
      ++min_changes;
    out.min_changes.push_back(static_cast<std::int16_t>(min_changes));
  }
}

std::size_t n_key_tables(const Options& options) {
  if (!options.duplicates || options.dedup) return 0;
  return static_cast<std::size_t>(DuplicateHash(options).n_tables());
}

gpu::qc::BatchOptions device_options(const Options& options) {
  gpu::qc::BatchOptions out;
  out.mates = options.paired() ? 2 : 1;
  set_trimming(options, out);
  set_adapters(options, out);
  set_filters(options, out);
  if (n_key_tables(options) == 0) return out;
  const DuplicateHash hash(options);
  out.n_tables = static_cast<std::uint32_t>(hash.n_tables());
  out.period = static_cast<std::uint32_t>(hash.period());
  out.key_mask = (std::uint64_t{1} << hash.n_bits()) - 1;
  for (int t = 0; t < hash.n_tables(); ++t) {
    const std::uint32_t* primes = hash.primes(t);
    out.primes.insert(out.primes.end(), primes, primes + hash.period());
  }
  return out;
}

void add_sums(const gpu::qc::StatsSums& sums, std::uint64_t n_reads, ReadStats& stats) {
  ReadStats part;
  part.n_reads = n_reads;
  part.q20_bases = sums.q20;
  part.q30_bases = sums.q30;
  part.q40_bases = sums.q40;
  for (const gpu::qc::CycleCounts& counts : sums.cycles) {
    if (counts.all_bases == 0) break;
    CycleSums cycle;
    std::copy_n(counts.bases, kLetters, cycle.bases.begin());
    for (std::size_t k = 0; k < cycle.quality.size(); ++k)
      cycle.quality[k] = static_cast<std::int64_t>(counts.quality[k]);
    cycle.all_bases = counts.all_bases;
    cycle.all_quality = static_cast<std::int64_t>(counts.all_quality);
    part.n_bases += counts.all_bases;
    part.cycles.push_back(cycle);
  }
  std::copy_n(sums.kmers, kKmers, part.kmers.begin());
  stats.add(part);
}

class DeviceSteps : public GpuSteps {
 public:
  DeviceSteps(int device, const Options& options)
      : options_(options),
        n_mates_(options.paired() ? 2 : 1),
        device_((gpu::set_device(device), device)),
        n_tables_(n_key_tables(options)),
        steps_(device_options(options)) {}

  bool run(Batch& batch) override {
    return with_device_errors([&] {
      gpu::set_device(device_);  // the calling thread may be another one than before
      longest_ = stage(batch);
      if (longest_ > kMaxLength) return false;
      take(batch, steps_.run(longest_, options_.dedup));
      return true;
    });
  }

  void add_stats(Summary& summary) override {
    with_device_errors([&] {
      gpu::set_device(device_);
      for (std::size_t m = 0; m < n_mates_; ++m) {
        const int mate = static_cast<int>(m);
        add_sums(steps_.sums(mate, false), n_before_, summary.before[m]);
        add_sums(steps_.sums(mate, true), n_after_, summary.after[m]);
      }
    });
  }

  double time_kernels(int n_runs) override {
    return with_device_errors([&] {
      gpu::set_device(device_);
      const auto begin = std::chrono::steady_clock::now();
      for (int i = 0; i < n_runs; ++i) steps_.launch(longest_);
      steps_.synchronize();
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    });
  }

  double device_seconds() const override { return steps_.device_seconds(); }
  std::uint64_t device_bytes() const override { return steps_.device_bytes(); }

 private:
  struct Source {
    FastqChunk* chunk;
    const RecordPlace* place;
  };
  Source source(Batch& batch, std::size_t read) const {
    const bool second = n_mates_ == 2 && !options_.interleaved && read % 2 == 1;
    FastqChunk& chunk = second ? batch.chunk2 : batch.chunk1;
    const std::size_t record = n_mates_ == 2 && !options_.interleaved ? read / 2 : read;
    return {&chunk, &chunk.records[record]};
  }

  // Copies the letters to where the device fetches them. Returns the longest read's length; with a
  // read that is too long nothing is copied.
  int stage(Batch& batch) {
    const std::size_t n_reads = batch.n_records * n_mates_;
    std::size_t n_bytes = 0;
    std::uint32_t longest = 0;
    for (std::size_t r = 0; r < n_reads; ++r) {
      const std::uint32_t length = source(batch, r).place->length;
      n_bytes += length;
      longest = std::max(longest, length);
    }
    if (longest > static_cast<std::uint32_t>(kMaxLength)) return kMaxLength + 1;
    const gpu::qc::StagedReads staged = steps_.stage(n_reads, n_bytes);
    std::size_t at = 0;
    for (std::size_t r = 0; r < n_reads; ++r) {
      const Source from = source(batch, r);
      const std::size_t length = from.place->length;
      staged.begin[r] = static_cast<std::uint32_t>(at);
      std::memcpy(staged.bases + at, from.chunk->sequence(*from.place), length);
      std::memcpy(staged.quality + at, from.chunk->quality(*from.place), length);
      at += length;
    }
    staged.begin[n_reads] = static_cast<std::uint32_t>(at);
    if (options_.dedup) std::copy_n(batch.is_duplicate.data(), batch.n_records, staged.removed);
    return static_cast<int>(longest);
  }

  void take(Batch& batch, const gpu::qc::BatchResults& results) {
    const std::size_t n_reads = batch.n_records * n_mates_;
    batch.results.assign(results.reads, results.reads + n_reads);
    batch.changes.assign(results.changes, results.changes + results.n_changes);
    batch.fasta_cuts.assign(results.cuts, results.cuts + results.n_cuts);
    // Each cut of a read lies before the one that was made before it.
    std::sort(batch.fasta_cuts.begin(), batch.fasta_cuts.end(),
              [](const FastaCut& a, const FastaCut& b) {
                return a.read != b.read ? a.read < b.read : a.begin > b.begin;
              });
    for (std::size_t r = 0; r < n_reads; r += n_mates_)
      n_after_ += (batch.results[r].flags & kCountsAfter) != 0;
    n_before_ += batch.n_records;
    if (n_tables_ > 0) batch.keys.assign(results.keys, results.keys + batch.n_records * n_tables_);
    batch.on_device = true;
  }

  const Options& options_;
  const std::size_t n_mates_;
  const int device_;
  const std::size_t n_tables_;  // keys of a record; 0: --dedup has them before
  gpu::qc::BatchSteps steps_;
  int longest_ = 0;             // read of the last batch
  std::uint64_t n_before_ = 0;  // reads of each mate
  std::uint64_t n_after_ = 0;
};

std::unique_ptr<GpuSteps> make_device_steps(int device, const Options& options) {
  return with_device_errors([&]() -> std::unique_ptr<GpuSteps> {
    return std::make_unique<DeviceSteps>(device, options);
  });
}

}  // namespace

const GpuTable kGpuTable = {&make_device_steps};

}  // namespace biogpu::qc
