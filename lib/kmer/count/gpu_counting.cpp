#include "lib/kmer/count/gpu_counting.hpp"

#include "lib/core/error.hpp"

namespace biogpu::kmer {
namespace {
constexpr std::size_t kBlockSize = 1u << 20;
}

GpuCounting::GpuCounting(const CountOptions& options, const std::vector<int>& devices,
                         std::uint64_t max_device_bytes)
    : options_(options), spill_(options.tmp_dir) {
  for (std::size_t i = 0; i < devices.size(); ++i) {
    GpuCountOptions of_device;
    of_device.canonical = options.canonical;
    of_device.order = options.order;
    of_device.part = static_cast<int>(i);
    of_device.n_parts = static_cast<int>(devices.size());
    of_device.max_device_bytes = max_device_bytes;
    counters_.push_back(make_gpu_counter(devices[i], of_device));
  }
}

void GpuCounting::add(std::string_view letters) {
  std::size_t n_filled = 0;  // devices that took it
  while (n_filled < counters_.size() && counters_[n_filled]->add(letters)) ++n_filled;
  if (n_filled == counters_.size()) return;
  // All are emptied, and the text is new to all: those that took it count it in the first part.
  const std::size_t n_took = n_filled;
  drain();
  for (std::size_t i = n_took; i < counters_.size(); ++i)
    if (!counters_[i]->add(letters))
      throw Error(ErrorCode::device_memory, "a batch does not fit into an empty device");
}

// Moves what the devices hold into parts_.
void GpuCounting::drain() {
  if (!parts_)
    parts_ = std::make_unique<OrderedCounts>(
        options_.order, pool_, spill_, options_.max_memory == 0 ? UINT64_MAX : options_.max_memory);
  std::vector<std::uint64_t> places;
  std::vector<std::uint64_t> counts;
  for (const auto& counter : counters_) {
    while (counter->next(kBlockSize, places, counts) > 0)
      parts_->add_places<1>([&](auto&& write) {
        for (std::size_t i = 0; i < places.size(); ++i) write(Key<1>{{places[i]}}, counts[i]);
      });
    totals_.n_windows += counter->n_windows();
    counter->clear();
  }
}

void GpuCounting::finish() {
  if (!parts_) return;
  drain();
  parts_->finish();
}

bool GpuCounting::next(CountBlock& places) {
  places.clear(1);
  if (parts_) {
    while (places.size() == 0 && next_bucket_ < parts_->n_blocks())
      parts_->take_places<1>(next_bucket_++, places);
  } else {
    while (next_counter_ < counters_.size() &&
           counters_[next_counter_]->next(kBlockSize, places.keys, places.counts) == 0) {
      places.clear(1);
      totals_.n_windows += counters_[next_counter_++]->n_windows();
    }
  }
  totals_.n_distinct += places.size();
  for (const std::uint64_t count : places.counts)
    totals_.n_kept += count >= options_.lower && count <= options_.upper;
  return places.size() > 0;
}

void GpuCounting::restore(CountBlock& block) const {
  std::size_t n = 0;
  for (std::size_t i = 0; i < block.size(); ++i) {
    const std::uint64_t count = block.counts[i];
    if (count < options_.lower || count > options_.upper) continue;
    block.keys[n] = options_.order.restore(Key<1>{{block.keys[i]}}).word[0];
    block.counts[n++] = count;
  }
  block.keys.resize(n);
  block.counts.resize(n);
}

GpuCountTimes GpuCounting::times() const {
  const auto total = [](const GpuCountTimes& t) {
    return t.pack_s + t.place_s + t.sort_s + t.runs_s;
  };
  GpuCountTimes most;
  for (const auto& counter : counters_)
    if (total(counter->times()) > total(most)) most = counter->times();
  return most;
}

std::uint64_t GpuCounting::peak_device_bytes() const {
  std::uint64_t most = 0;
  for (const auto& counter : counters_) most = std::max(most, counter->peak_device_bytes());
  return most;
}

}  // namespace biogpu::kmer
