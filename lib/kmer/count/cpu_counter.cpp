#include "lib/kmer/count/cpu_counter.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

#include "lib/core/object_pool.hpp"
#include "lib/kmer/count/count_hash_table.hpp"
#include "lib/kmer/count/count_windows.hpp"
#include "lib/kmer/sequences/super_kmers.hpp"
#include "lib/kmer/store/ordered_counts.hpp"
#include "lib/pipeline/pipeline.hpp"

namespace biogpu::kmer {
namespace {

// So many that the table of a bin of some hundred million k-mers stays in a second-level cache.
std::uint32_t n_bins_for(int k) { return words_for(k) == 1 ? 1024 : 2048; }

}  // namespace

class CpuCounter::Impl {
 public:
  explicit Impl(const CountOptions& options)
      : options_(options),
        scan_{options.k, minimizer_length(options.k), n_bins_for(options.k)},
        spill_(options.tmp_dir),
        bins_(scan_.n_bins, pool_, spill_, bound(options)),
        ordered_(options.order, pool_, spill_, bound(options)) {}

  void add(const FeedSequences& feed) {
    SuperKmerCutter& cutter = cutters_.acquire(scan_, options_.min_quality_symbol, bins_);
    feed([&](std::string_view sequence, std::string_view quality) {
      cutter.add(sequence, quality);
    });
    cutters_.release(cutter);
  }

  void finish() {
    for (SuperKmerCutter& cutter : cutters_.all()) {
      cutter.finish();
      totals_.n_windows += cutter.n_windows();
    }
    with_words(options_.k, [&]<int kWords>() { count_all<kWords>(); });
    ordered_.finish();
  }

  bool next(Bucket& bucket) {
    bucket.index = next_bucket_++;
    return bucket.index < ordered_.n_blocks();
  }

  void fetch(Bucket& bucket) {
    with_words(options_.k,
               [&]<int kWords>() { ordered_.take<kWords>(bucket.index, bucket.counts); });
  }

  CountTotals totals() const { return totals_; }
  std::uint64_t spilled_bytes() const { return spill_.bytes(); }

 private:
  template <int kWords>
  void count_all() {
    ObjectPool<CountHashTable<kWords>> tables;
    std::vector<std::size_t> slots(2 * static_cast<std::size_t>(options_.n_threads));
    std::size_t next = 0;
    pipeline::run({options_.n_threads, static_cast<int>(slots.size())},
                  {[&](std::size_t slot) {
                     slots[slot] = next++;
                     return slots[slot] < bins_.n_bins();
                   },
                   [&](std::size_t slot) {
                     CountHashTable<kWords>& table = tables.acquire();
                     count_bin(slots[slot], table);
                     tables.release(table);
                   },
                   [](std::size_t) {}});
  }

  template <int kWords>
  void count_bin(std::size_t bin, CountHashTable<kWords>& table) {
    const std::uint64_t n_windows = bins_.n_records(bin);
    if (n_windows == 0) return;
    table.reset(expected_distinct(n_windows));
    bins_.read(bin, [&](std::span<const char> records) {
      count_windows<kWords>(records, options_.k, options_.canonical, table);
    });
    bins_.drop(bin);
    file_counts(table);
    n_counted_ += n_windows;
    n_found_ += table.size();
    ++n_bins_counted_;
  }

  template <int kWords>
  void file_counts(CountHashTable<kWords>& table) {
    ordered_.add<kWords>([&](auto&& write) {
      table.for_each([&](const Key<kWords>& key, std::uint64_t count) {
        if (count >= options_.lower && count <= options_.upper) write(key, count);
      });
    });
    const std::lock_guard lock(mutex_);
    totals_.n_distinct += table.size();
  }

  // From the bins counted so far. Bounded, for a bin with far more windows than others holds
  // repeats in most cases, such as poly-A; a table that turns out too small grows.
  std::size_t expected_distinct(std::uint64_t n_windows) const {
    constexpr std::uint64_t kAlwaysAllowed = 1u << 18;
    constexpr std::uint64_t kAboveMean = 8;
    const std::uint64_t counted = n_counted_;
    const std::uint64_t n_bins = n_bins_counted_;
    const std::uint64_t expected =
        counted == 0 ? n_windows / 4 : n_windows * (n_found_ / 1024 + 1) / (counted / 1024 + 1);
    const std::uint64_t mean = n_bins == 0 ? 0 : n_found_ / n_bins;
    return std::min(expected, std::max(kAlwaysAllowed, kAboveMean * mean));
  }

  static std::uint64_t bound(const CountOptions& options) {
    return options.max_memory == 0 ? UINT64_MAX : options.max_memory;
  }

  const CountOptions options_;
  const ScanOptions scan_;
  SpillFile spill_;
  BlockPool pool_;
  BinStore bins_;
  OrderedCounts ordered_;
  ObjectPool<SuperKmerCutter> cutters_;  // after the store that they write to
  std::atomic<std::uint64_t> n_counted_{0};
  std::atomic<std::uint64_t> n_found_{0};
  std::atomic<std::uint64_t> n_bins_counted_{0};
  std::mutex mutex_;
  CountTotals totals_;
  std::size_t next_bucket_ = 0;
};

CpuCounter::CpuCounter(const CountOptions& options) : impl_(std::make_unique<Impl>(options)) {}
CpuCounter::~CpuCounter() = default;

void CpuCounter::add(const FeedSequences& feed) { impl_->add(feed); }
void CpuCounter::finish() { impl_->finish(); }
bool CpuCounter::next(Bucket& bucket) { return impl_->next(bucket); }
void CpuCounter::fetch(Bucket& bucket) { impl_->fetch(bucket); }
CountTotals CpuCounter::totals() const { return impl_->totals(); }
std::uint64_t CpuCounter::spilled_bytes() const { return impl_->spilled_bytes(); }

}  // namespace biogpu::kmer
