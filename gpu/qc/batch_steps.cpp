#include "gpu/qc/batch_steps.hpp"

#include <utility>

#include "gpu/qc/duplicate_keys.hpp"
#include "gpu/rt/transfer.hpp"

namespace biogpu::gpu::qc {
BatchSteps::BatchSteps(BatchOptions options)
    : options_(std::move(options)), sums_(4), host_counts_(2), counts_(2) {
  upload(stream_, adapter_text_, options_.adapter_text);
  upload(stream_, fasta_adapters_, options_.fasta_adapters);
  upload(stream_, primes_, options_.primes);
  std::vector<std::int16_t> limits = options_.max_differing;
  limits.insert(limits.end(), options_.min_changes.begin(), options_.min_changes.end());
  upload(stream_, limits_, limits);
  stream_.fill(sums_.data(), 0, sums_.bytes());
  stream_.synchronize();
  StepRules& rules = options_.rules;
  rules.adapter_text = adapter_text_.data();
  rules.fasta_adapters = fasta_adapters_.data();
  rules.n_fasta_adapters = static_cast<std::uint32_t>(options_.fasta_adapters.size());
  rules.max_differing = limits_.data();
  rules.min_changes =
      options_.min_changes.empty() ? nullptr : limits_.data() + options_.max_differing.size();
}

StagedReads BatchSteps::stage(std::size_t n_reads, std::size_t n_bytes) {
  n_reads_ = n_reads;
  n_bytes_ = n_bytes;
  host_letters_.reserve(2 * n_bytes);
  host_begin_.reserve(n_reads + 1);
  host_removed_.reserve(n_reads);
  return {host_letters_.data(), host_letters_.data() + n_bytes, host_begin_.data(),
          host_removed_.data()};
}

void BatchSteps::copy_in(bool has_removed) {
  const std::size_t n_items = n_reads_ / static_cast<std::size_t>(options_.mates);
  letters_.reserve(2 * n_bytes_);
  begin_.reserve(n_reads_ + 1);
  removed_.reserve(n_items);
  results_.reserve(n_reads_);
  keys_.reserve(n_items * options_.n_tables);
  // Every change is of one pair of bases that lie on each other.
  changes_.reserve(options_.rules.corrects ? n_bytes_ / 2 + 1 : 0);
  // A cut takes 5 bases or more, but one a read that takes all.
  cuts_.reserve(options_.rules.counts_fasta_adapters ? n_bytes_ / 5 + n_reads_ : 0);
  if (n_bytes_ > 0) stream_.copy_to_device(letters_.data(), host_letters_.data(), 2 * n_bytes_);
  stream_.copy_to_device(begin_.data(), host_begin_.data(), (n_reads_ + 1) * sizeof(std::uint32_t));
  if (has_removed) stream_.copy_to_device(removed_.data(), host_removed_.data(), n_items);
  reads_ = {letters_.data(),
            letters_.data() + n_bytes_,
            begin_.data(),
            has_removed ? removed_.data() : nullptr,
            static_cast<std::uint32_t>(n_reads_),
            options_.mates};
}

void BatchSteps::launch(int max_length) {
  if (options_.n_tables > 0)
    launch_duplicate_keys({reads_, primes_.data(), options_.n_tables, options_.period,
                           options_.key_mask, keys_.data()},
                          stream_);
  CycleStatsArgs stats{reads_, nullptr, nullptr, 0, max_length};
  for (stats.mate = 0; stats.mate < options_.mates; ++stats.mate) {
    stats.sums = sums_.data() + 2 * stats.mate;
    launch_cycle_stats(stats, stream_);
  }
  // From here on the bases may be corrected ones.
  stream_.fill(counts_.data(), 0, counts_.bytes());
  StepsArgs steps;
  steps.reads = reads_;
  steps.rules = options_.rules;
  steps.results = results_.data();
  steps.changes = changes_.data();
  steps.n_changes = counts_.data();
  steps.cuts = cuts_.data();
  steps.n_cuts = counts_.data() + 1;
  launch_steps(steps, stream_);
  stats.results = results_.data();
  for (stats.mate = 0; stats.mate < options_.mates; ++stats.mate) {
    stats.sums = sums_.data() + 2 * stats.mate + 1;
    launch_cycle_stats(stats, stream_);
  }
}

BatchResults BatchSteps::collect() {
  const std::size_t n_keys =
      n_reads_ / static_cast<std::size_t>(options_.mates) * options_.n_tables;
  host_results_.reserve(n_reads_);
  host_keys_.reserve(n_keys);
  stream_.copy_to_host(host_results_.data(), results_.data(), n_reads_ * sizeof(TrimResult));
  if (n_keys > 0)
    stream_.copy_to_host(host_keys_.data(), keys_.data(), n_keys * sizeof(std::uint64_t));
  stream_.copy_to_host(host_counts_.data(), counts_.data(), counts_.bytes());
  end_event_.record(stream_);
  stream_.synchronize();
  device_s_ += end_event_.seconds_since(begin_event_);
  const std::size_t n_changes = host_counts_.data()[0];
  const std::size_t n_cuts = host_counts_.data()[1];
  host_changes_.reserve(n_changes);
  host_cuts_.reserve(n_cuts);
  if (n_changes > 0)
    stream_.copy_to_host(host_changes_.data(), changes_.data(), n_changes * sizeof(BaseChange));
  if (n_cuts > 0) stream_.copy_to_host(host_cuts_.data(), cuts_.data(), n_cuts * sizeof(FastaCut));
  if (n_changes + n_cuts > 0) stream_.synchronize();
  return {host_results_.data(), host_keys_.data(),
          host_changes_.data(), n_changes,
          host_cuts_.data(),    n_cuts};
}

BatchResults BatchSteps::run(int max_length, bool has_removed) {
  if (n_reads_ == 0) return {};
  begin_event_.record(stream_);
  copy_in(has_removed);
  launch(max_length);
  return collect();
}

StatsSums BatchSteps::sums(int mate, bool after) {
  return download(stream_, sums_.data() + 2 * mate + (after ? 1 : 0));
}

std::uint64_t BatchSteps::device_bytes() const {
  return sums_.bytes() + letters_.bytes() + begin_.bytes() + removed_.bytes() + results_.bytes() +
         keys_.bytes() + changes_.bytes() + cuts_.bytes() + primes_.bytes() + limits_.bytes();
}

}  // namespace biogpu::gpu::qc
