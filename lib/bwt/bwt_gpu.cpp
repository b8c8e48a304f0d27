// The GPU backend of `bwt`: suffix arrays, and searches of an index that stays on the device.
#include "lib/bwt/bwt_gpu.hpp"

#include <algorithm>
#include <chrono>
#include <mutex>

#include "gpu/bwt/block_sort.hpp"
#include "gpu/bwt/fm_search.hpp"
#include "gpu/bwt/prefix_doubling.hpp"
#include "gpu/rt/device.hpp"
#include "lib/core/errors_gpu.hpp"
#include "lib/core/run_on_threads.hpp"

namespace biogpu::bwt {
namespace {

namespace device_bwt = biogpu::gpu::bwt;

// Offsets into the index's file in the place of pointers.
device_bwt::FmArrays arrays_of(const FmIndex& index) {
  const FmHeader& header = index.header();
  const auto at = [&](FmSection section) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): see above
    return reinterpret_cast<const std::uint8_t*>(
        static_cast<std::uintptr_t>(header.section[section].offset));
  };
  const auto words_at = [&](FmSection section) {
    return reinterpret_cast<const std::uint64_t*>(at(section));
  };
  device_bwt::FmArrays arrays;
  arrays.blocks = words_at(fm_blocks);
  arrays.stretches = words_at(fm_stretches);
  arrays.table = at(fm_table);
  arrays.samples = at(fm_samples);
  arrays.starts = words_at(fm_starts);
  arrays.text = words_at(fm_text);
  arrays.segments = words_at(fm_segments);
  arrays.n_rows = header.n_rows;
  arrays.n_segments = header.n_segments;
  arrays.sample_rate = header.sample_rate;
  arrays.table_k = header.table_k;
  for (std::size_t c = 0; c < 5; ++c) arrays.first_row[c] = header.first_row[c];
  arrays.row_bytes = header.row_bytes;
  return arrays;
}

class OneGpuSearch final : public GpuSearch {
 public:
  OneGpuSearch(int device, const FmIndex& index) : device_(device), index_(index) {
    with_device_errors([&] {
      gpu::set_device(device_);
      searcher_ =
          std::make_unique<device_bwt::FmSearcher>(index.data(), index.bytes(), arrays_of(index));
    });
  }

  void count(const PatternSet& patterns, std::span<const Probe> probes,
             std::span<std::uint64_t> counts) override {
    const std::lock_guard lock(mutex_);
    bool damaged = false;
    with_device_errors([&] {
      gpu::set_device(device_);
      searcher_->count(patterns.words(), convert(patterns, probes), counts);
      damaged = searcher_->take_damaged();
    });
    if (damaged) index_.refuse_walk();
  }

  void locate(const PatternSet& patterns, std::span<const Probe> probes,
              std::vector<ProbeHit>& hits) override {
    const std::lock_guard lock(mutex_);
    bool damaged = false;
    with_device_errors([&] {
      gpu::set_device(device_);
      searcher_->locate(patterns.words(), convert(patterns, probes), first_, positions_);
      damaged = searcher_->take_damaged();
    });
    if (damaged) index_.refuse_walk();
    for (std::uint32_t i = 0; i < probes.size(); ++i)
      for (std::uint64_t at = first_[i]; at < first_[i + 1]; ++at)
        hits.push_back({i, positions_[at]});
  }

  double device_seconds() const override { return searcher_->device_seconds(); }
  std::uint64_t device_bytes() const override { return searcher_->device_bytes(); }

 private:
  std::span<const device_bwt::FmProbe> convert(const PatternSet& patterns,
                                               std::span<const Probe> probes) {
    probes_.clear();
    for (const Probe& probe : probes) {
      const PatternSet::Pattern& pattern = patterns[probe.pattern];
      probes_.push_back({32 * pattern.word + probe.begin, probe.length,
                         patterns.is_plain(pattern, probe.begin, probe.length) ? 1u : 0u});
    }
    return probes_;
  }

  const int device_;
  const FmIndex& index_;
  std::mutex mutex_;
  std::unique_ptr<device_bwt::FmSearcher> searcher_;
  std::vector<device_bwt::FmProbe> probes_;
  std::vector<std::uint64_t> first_, positions_;
};

// Host memory that was not pinned takes what the device sends at a fraction of the link's speed,
// and new memory costs a page fault for each page. So positions come by way of two pinned buffers,
// and many threads take them from there.
class PositionCopy {
 public:
  PositionCopy(const GpuSortJob& job, GpuSortReport& report)
      : to_(static_cast<char*>(job.sa)),
        row_bytes_(static_cast<std::size_t>(job.index_bytes)),
        n_threads_(job.n_threads),
        report_(report) {}

  // queue(begin, n, host) queues the copy of rows [begin, begin + n); wait() waits for it.
  template <class Queue, class Wait>
  void run(std::uint64_t n_rows, const Queue& queue, const Wait& wait) {
    const auto started = std::chrono::steady_clock::now();
    // A few pieces at least, so that the device sends one while another is taken.
    const std::uint64_t rows =
        std::min<std::uint64_t>(n_rows, std::clamp(n_rows / 8, kMinRows, kMaxRows));
    for (auto& buffer : buffers_) buffer.reserve(rows * row_bytes_);
    for (std::uint64_t begin = 0, side = 0; begin < n_rows + rows; begin += rows, side ^= 1) {
      if (begin < n_rows) queue(begin, std::min(rows, n_rows - begin), buffers_[side].data());
      if (begin > 0) take(buffers_[side ^ 1].data(), std::min(rows, n_rows - (begin - rows)));
      wait();
    }
    report_.copy_s +=
        std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  }

 private:
  static constexpr std::uint64_t kMinRows = 1u << 20;
  static constexpr std::uint64_t kMaxRows = 1u << 24;

  void take(const char* from, std::uint64_t n_rows) {
    run_ranges_on_threads(n_threads_, n_rows * row_bytes_,
                          [&](std::size_t, std::size_t i, std::size_t end) {
                            std::copy_n(from + i, end - i, to_ + i);
                          });
    to_ += n_rows * row_bytes_;
  }

  char* to_;
  const std::size_t row_bytes_;
  const int n_threads_;
  GpuSortReport& report_;
  gpu::PinnedBuffer<char> buffers_[2];
};

std::uint64_t usable_bytes(const GpuSortJob& job) {
  const auto free =
      static_cast<std::uint64_t>(0.9 * static_cast<double>(gpu::memory_info().free_bytes));
  return job.max_device_bytes != 0 ? std::min(free, job.max_device_bytes) : free;
}

// One sort of everything takes 52 bytes a symbol where all tie, the text and the samples.
bool fits_at_once(const GpuSortJob& job) {
  constexpr std::uint64_t kSymbolBytes = 60;
  return job.index_bytes == 4 && job.max_rows == 0 &&
         kSymbolBytes * job.source.text.size() < usable_bytes(job);
}

void sort_at_once(const GpuSortJob& job, GpuSortReport& report) {
  device_bwt::SuffixSorter sorter;
  sorter.sort(device_text(job.source));
  report.n_rank_rounds = sorter.n_rounds();
  report.n_blocks = 1;
  report.device_s = sorter.device_seconds();
  report.device_bytes = sorter.device_bytes();
  PositionCopy(job, report)
      .run(
          sorter.n(),
          [&](std::uint64_t begin, std::uint64_t n, void* host) {
            sorter.queue_copy(begin, n, static_cast<std::uint32_t*>(host));
          },
          [&] { sorter.synchronize(); });
}

void sort_in_blocks(const GpuSortJob& job, GpuSortReport& report) {
  device_bwt::BlockSorter sorter(device_text(job.source), usable_bytes(job), job.max_rows);
  PositionCopy copy(job, report);
  std::uint64_t first_row = 0;
  for (std::size_t block = 0; block < sorter.n_blocks(); ++block) {
    sorter.sort(block);
    for (const auto& group : sorter.ties())
      report.left.push_back({first_row + group.begin, group.size, sorter.tie_depth()});
    copy.run(
        sorter.n_rows(block),
        [&](std::uint64_t begin, std::uint64_t n, void* host) {
          sorter.queue_copy(begin, n, job.index_bytes, host);
        },
        [&] { sorter.synchronize(); });
    first_row += sorter.n_rows(block);
  }
  report.n_rank_rounds = sorter.n_rounds();
  report.n_blocks = sorter.n_blocks();
  report.device_s = sorter.device_seconds();
  report.device_bytes = sorter.device_bytes();
}

void sort_suffixes_on_device(int device, const GpuSortJob& job, GpuSortReport& report) {
  with_device_errors([&] {
    gpu::set_device(device);
    if (fits_at_once(job)) {
      try {
        return sort_at_once(job, report);
      } catch (const gpu::DeviceError& error) {
        if (error.kind() != gpu::DeviceError::Kind::out_of_memory) throw;
      }
    }
    sort_in_blocks(job, report);
  });
}

std::unique_ptr<GpuSearch> make_device_search(int device, const FmIndex& index) {
  return std::make_unique<OneGpuSearch>(device, index);
}

}  // namespace

const GpuTable kGpuTable = {&sort_suffixes_on_device, &make_device_search};

device_bwt::SuffixText device_text(const SuffixSource& source) {
  device_bwt::SuffixText text;
  text.words = source.text.words();
  text.n = source.text.size();
  text.bits = source.text.bits();
  text.has_ends = !source.ends.empty();
  text.highest_bits = source.text.highest_bits();
  text.word_symbols = static_cast<std::uint32_t>(source.text.symbols_per_word());
  return text;
}

}  // namespace biogpu::bwt
