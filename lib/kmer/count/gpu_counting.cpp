#include "lib/kmer/count/gpu_counting.hpp"

#include <algorithm>
#include <exception>
#include <thread>

#include "lib/core/error.hpp"
#include "lib/pipeline/pipeline.hpp"

namespace biogpu::kmer {
namespace {

// k-mers taken from a device at a time: blocks of a few MB, since the memory of larger ones costs
// more to touch for the first time than it saves in calls.
constexpr std::size_t kBlockSize = 1u << 17;

// f(i) for i below n, each on a thread of its own; the first exception is thrown again here.
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

GpuCounting::GpuCounting(const CountOptions& options, const std::vector<int>& devices,
                         std::uint64_t max_device_bytes)
    : options_(options), spill_(options.tmp_dir) {
  for (std::size_t i = 0; i < devices.size(); ++i) {
    GpuCountOptions of_device;
    of_device.canonical = options_.canonical;
    of_device.order = options_.order;
    of_device.part = static_cast<int>(i);
    of_device.n_parts = static_cast<int>(devices.size());
    of_device.max_device_bytes = max_device_bytes;
    devices_.push_back(std::make_unique<Device>());
    devices_.back()->counter = make_gpu_counter(devices[i], of_device);
  }
  std::vector<GpuCounter*> counters;
  for (const auto& device : devices_) counters.push_back(device->counter.get());
  shares_texts_ = counters.size() > 1 && counters[0]->share_texts(counters);
}

bool GpuCounting::fill_one(const PackedText& text) {
  const std::size_t first = n_texts_++;
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    if (devices_[(first + i) % devices_.size()]->counter->add(text)) return true;
  }
  return false;
}

bool GpuCounting::fill_from(std::size_t& at, const PackedText& text) {
  if (shares_texts_) return fill_one(text);
  for (; at < devices_.size(); ++at)
    if (!devices_[at]->counter->add(text)) return false;
  return true;
}

// Where a device is full all are emptied. The text is then new to those that have not taken it; the
// others have counted it.
void GpuCounting::add(const PackedText& text) {
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

void GpuCounting::prepare() {
  if (shares_texts_) devices_[0]->counter->exchange();
  for_each_at_once(devices_.size(), [&](std::size_t i) { devices_[i]->counter->prepare(); });
}

// Moves what the devices hold into parts_.
void GpuCounting::drain() {
  if (!parts_)
    parts_ = std::make_unique<OrderedCounts>(
        options_.order, pool_, spill_, options_.max_memory == 0 ? UINT64_MAX : options_.max_memory);
  prepare();
  for (const auto& device : devices_) {
    with_words(options_.k, [&]<int kWords>() { drain_into_parts<kWords>(*device->counter); });
    totals_.n_windows += device->counter->n_windows();
  }
  // Not before: the later ones' passes go through the texts of all.
  for (const auto& device : devices_) device->counter->clear();
}

template <int kWords>
void GpuCounting::drain_into_parts(GpuCounter& counter) {
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
                     parts_->add_places<kWords>(file);
                   else
                     parts_->add<kWords>(file);
                 },
                 [](std::size_t) {}});
}

void GpuCounting::finish() {
  if (parts_ || words_for(options_.k) > 1) {
    drain();
    parts_->finish();
  } else {
    prepare();
  }
}

bool GpuCounting::next(Piece& piece) {
  if (parts_) {
    piece.bucket = next_bucket_++;
    return piece.bucket < parts_->n_blocks();
  }
  for (; next_device_ < devices_.size(); ++next_device_) {
    GpuCounter& counter = *devices_[next_device_]->counter;
    if (counter.next(kBlockSize, piece.places)) return true;
    totals_.n_windows += counter.n_windows();
  }
  return false;
}

void GpuCounting::restore(Piece& piece) {
  CountBlock& block = piece.block;
  if (parts_)
    with_words(options_.k, [&]<int kWords>() { parts_->take<kWords>(piece.bucket, block); });
  else
    restore_places(piece.places, block);
  n_distinct_ += block.size();
  if (keeps_all()) return;
  const auto n_words = static_cast<std::size_t>(block.n_words);
  std::size_t n = 0;
  for (std::size_t i = 0; i < block.size(); ++i) {
    const std::uint64_t count = block.counts[i];
    if (count < options_.lower || count > options_.upper) continue;
    std::copy_n(block.key(i), n_words, block.keys.data() + n * n_words);
    block.counts[n++] = count;
  }
  block.keys.resize(n * n_words);
  block.counts.resize(n);
}

void GpuCounting::restore_places(const GpuCounter::Block& places, CountBlock& block) const {
  block.clear(1);
  block.counts.assign(places.counts, places.counts + places.n);
  block.keys.resize(places.n);
  for (std::size_t i = 0; i < places.n; ++i)
    block.keys[i] = options_.order.restore(Key<1>{{places.keys[i]}}).word[0];
}

bool GpuCounting::keeps_all() const { return options_.lower <= 1 && options_.upper == UINT64_MAX; }

GpuCountTimes GpuCounting::times() const {
  const auto total = [](const GpuCountTimes& t) {
    return t.copy_s + t.place_s + t.sort_s + t.runs_s;
  };
  GpuCountTimes most;
  for (const auto& device : devices_) {
    const GpuCountTimes times = device->counter->times();
    if (total(times) > total(most)) most = times;
  }
  return most;
}

std::uint64_t GpuCounting::peak_device_bytes() const {
  std::uint64_t most = 0;
  for (const auto& device : devices_) most = std::max(most, device->counter->peak_device_bytes());
  return most;
}

}  // namespace biogpu::kmer
