#include "lib/kmer/count/multi_gpu_counter.hpp"

#include <algorithm>
#include <exception>
#include <thread>

#include "lib/core/error.hpp"
#include "lib/kmer/count/selection.hpp"
#include "lib/pipeline/pipeline.hpp"

namespace biogpu::kmer {
namespace {

// k-mers taken from a device at a time: blocks of a few MB, since the memory of larger ones costs
// more to touch for the first time than it saves in calls.
constexpr std::size_t kBlockSize = 1u << 17;

// f(i) for i below n, each on its own thread; the first exception is thrown again here.
template <class Function>
void for_each_at_once(std::size_t n, Function&& f) {
  std::vector<std::exception_ptr> errors(n);
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < n; ++i)
      threads.emplace_back([&, i] {
        try {
          f(i);
        } catch (...) {
          errors[i] = std::current_exception();
        }
      });
  }
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
}

}  // namespace

MultiGpuCounter::MultiGpuCounter(const CountOptions& options, const std::vector<int>& devices,
                                 std::uint64_t max_device_bytes)
    : options_(options),
      packer_(options.k, options.min_quality_symbol, DeviceCounter::kMaxLetters),
      spill_(options.tmp_dir) {
  for (std::size_t i = 0; i < devices.size(); ++i) {
    DeviceCounterOptions of_device;
    of_device.canonical = options_.canonical;
    of_device.order = options_.order;
    of_device.part = static_cast<int>(i);
    of_device.n_parts = static_cast<int>(devices.size());
    of_device.max_device_bytes = max_device_bytes;
    devices_.push_back(make_device_counter(devices[i], of_device));
  }
  std::vector<DeviceCounter*> counters;
  for (const auto& device : devices_) counters.push_back(device.get());
  shares_texts_ = counters.size() > 1 && counters[0]->share_texts(counters);
}

bool MultiGpuCounter::fill_one(const PackedText& text) {
  const std::size_t first = n_texts_++;
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    if (devices_[(first + i) % devices_.size()]->add(text)) return true;
  }
  return false;
}

bool MultiGpuCounter::fill_from(std::size_t& at, const PackedText& text) {
  if (shares_texts_) return fill_one(text);
  for (; at < devices_.size(); ++at)
    if (!devices_[at]->add(text)) return false;
  return true;
}

void MultiGpuCounter::add(const FeedSequences& feed) {
  packer_.pack(feed, [this](const PackedText& text) { add(text); });
}

// Where a device is full all are emptied. The text is then new to those that have not taken it; the
// others have counted it.
void MultiGpuCounter::add(const PackedText& text) {
  std::size_t at = 0;
  {
    const std::shared_lock lock(filling_);
    if (fill_from(at, text)) return;
  }
  const std::unique_lock lock(filling_);
  if (fill_from(at, text)) return;  // another thread has emptied them meanwhile
  drain();
  if (!fill_from(at, text))
    throw Error(ErrorCode::device_memory, "a text does not fit into an empty device");
}

void MultiGpuCounter::prepare() {
  if (shares_texts_) devices_[0]->exchange();
  for_each_at_once(devices_.size(), [&](std::size_t i) { devices_[i]->prepare(); });
}

// Moves what the devices hold into parts_.
void MultiGpuCounter::drain() {
  if (!parts_)
    parts_ = std::make_unique<OrderedCounts>(
        options_.order, pool_, spill_, options_.max_memory == 0 ? UINT64_MAX : options_.max_memory);
  prepare();
  for (const auto& device : devices_) {
    with_words(options_.k, [&]<int kWords>() { drain_into_parts<kWords>(*device); });
    totals_.n_windows += device->n_windows();
  }
  // Not before: the later ones' passes go through the texts of all.
  for (const auto& device : devices_) device->clear();
}

template <int kWords>
void MultiGpuCounter::drain_into_parts(DeviceCounter& counter) {
  std::vector<CountBlock> blocks(static_cast<std::size_t>(options_.n_threads) + 2);
  pipeline::run({options_.n_threads, static_cast<int>(blocks.size())},
                {[&](std::size_t slot) {
                   return counter.next(kBlockSize, blocks[slot].keys, blocks[slot].counts) > 0;
                 },
                 [&](std::size_t slot) {
                   const CountBlock& block = blocks[slot];
                   const auto file = [&](auto&& write) {
                     Key<kWords> key;
                     for (std::size_t i = 0; i < block.counts.size(); ++i) {
                       std::copy_n(block.keys.data() + i * kWords, kWords, key.word.begin());
                       write(key, block.counts[i]);
                     }
                   };
                   if constexpr (kWords == 1)
                     parts_->add_sort_keys<kWords>(file);
                   else
                     parts_->add<kWords>(file);
                 },
                 [](std::size_t) {}});
}

void MultiGpuCounter::finish() {
  if (parts_ || words_for(options_.k) > 1) {
    drain();
    parts_->finish();
  } else {
    prepare();
  }
}

bool MultiGpuCounter::next(Bucket& bucket) {
  bucket.index = next_bucket_++;
  if (parts_) return bucket.index < parts_->n_blocks();
  for (; next_device_ < devices_.size(); ++next_device_) {
    DeviceCounter& counter = *devices_[next_device_];
    if (counter.next(kBlockSize, bucket.sorted)) return true;
    totals_.n_windows += counter.n_windows();
  }
  return false;
}

void MultiGpuCounter::fetch(Bucket& bucket) {
  CountBlock& counts = bucket.counts;
  if (parts_)
    with_words(options_.k, [&]<int kWords>() { parts_->take<kWords>(bucket.index, counts); });
  else
    decode(bucket.sorted, counts);
  n_distinct_ += counts.size();
  if (keeps_all()) return;
  keep_if(counts, [this](const std::uint64_t*, std::uint64_t count) {
    return count >= options_.lower && count <= options_.upper;
  });
}

void MultiGpuCounter::decode(const DeviceCounter::Block& sorted, CountBlock& counts) const {
  counts.clear(1);
  counts.counts.assign(sorted.counts, sorted.counts + sorted.n);
  counts.keys.resize(sorted.n);
  for (std::size_t i = 0; i < sorted.n; ++i)
    counts.keys[i] = options_.order.decode(Key<1>{{sorted.keys[i]}}).word[0];
}

bool MultiGpuCounter::keeps_all() const {
  return options_.lower <= 1 && options_.upper == UINT64_MAX;
}

std::optional<DeviceUsage> MultiGpuCounter::device_usage() const {
  const auto total = [](const DeviceCountTimes& t) {
    return t.copy_s + t.encode_s + t.sort_s + t.runs_s;
  };
  DeviceUsage usage;
  for (const auto& device : devices_) {
    const DeviceCountTimes times = device->times();
    if (total(times) > total(usage.times)) usage.times = times;
    usage.peak_bytes = std::max(usage.peak_bytes, device->peak_device_bytes());
  }
  return usage;
}

}  // namespace biogpu::kmer
