// The GPU backend of `bwt`: suffix arrays, and searches of an index that stays on the device.
#include "lib/bwt/bwt_gpu.hpp"

#include <mutex>

#include "gpu/bwt/fm_search.hpp"
#include "gpu/bwt/suffix_sort.hpp"
#include "gpu/rt/device.hpp"
#include "lib/core/errors_gpu.hpp"

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
  OneGpuSearch(int device, const FmIndex& index) : device_(device) {
    with_device_errors([&] {
      gpu::set_device(device_);
      searcher_ =
          std::make_unique<device_bwt::FmSearcher>(index.data(), index.bytes(), arrays_of(index));
    });
  }

  void count(const PatternSet& patterns, std::span<const Probe> probes,
             std::span<std::uint64_t> counts) override {
    const std::lock_guard lock(mutex_);
    with_device_errors([&] {
      gpu::set_device(device_);
      searcher_->count(patterns.words(), convert(patterns, probes), counts);
    });
  }

  void locate(const PatternSet& patterns, std::span<const Probe> probes,
              std::vector<ProbeHit>& hits) override {
    const std::lock_guard lock(mutex_);
    with_device_errors([&] {
      gpu::set_device(device_);
      searcher_->locate(patterns.words(), convert(patterns, probes), first_, positions_);
    });
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
  std::mutex mutex_;
  std::unique_ptr<device_bwt::FmSearcher> searcher_;
  std::vector<device_bwt::FmProbe> probes_;
  std::vector<std::uint64_t> first_, positions_;
};

}  // namespace

BigArray<std::uint32_t> sort_suffixes_of_backend(int device, const PackedText& text,
                                                 GpuSortReport* report) {
  return with_device_errors([&] {
    gpu::set_device(device);
    device_bwt::SuffixSorter sorter;
    sorter.sort(text.words(), text.size());
    BigArray<std::uint32_t> sa(text.size());
    sorter.copy_suffix_array(sa.data());
    if (report != nullptr)
      *report = {sorter.n_rounds(), sorter.device_seconds(), sorter.device_bytes()};
    return sa;
  });
}

std::unique_ptr<GpuSearch> make_search_of_backend(int device, const FmIndex& index) {
  return std::make_unique<OneGpuSearch>(device, index);
}

}  // namespace biogpu::bwt
