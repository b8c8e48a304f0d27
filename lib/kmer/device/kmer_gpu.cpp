// The GPU backend's side of lib/kmer/device/device_counter.hpp and gpu_lookup.hpp.
#include "lib/kmer/device/kmer_gpu.hpp"
#include "gpu/kmer/count/pass_counter.hpp"
#include "gpu/kmer/lookup/lookup_table.hpp"
#include "gpu/rt/device.hpp"
#include "lib/core/errors_gpu.hpp"

namespace biogpu::kmer {
namespace {

std::vector<std::uint64_t> tables_of(const KeyOrder& order) {
  std::vector<std::uint64_t> tables;
  if (order.keeps_keys()) return tables;
  for (const auto& table : order.position_tables())
    tables.insert(tables.end(), table.begin(), table.end());
  return tables;
}

// A text is staged whole.
static_assert(DeviceCounter::kMaxLetters <= gpu::kmer::CounterOptions::kStageLetters);

gpu::kmer::CounterOptions device_options(const DeviceCounterOptions& options) {
  gpu::kmer::CounterOptions out;
  out.k = options.order.k();
  out.n_words = words_for(out.k);
  out.canonical = options.canonical;
  out.part = options.part;
  out.n_parts = options.n_parts;
  out.max_device_bytes = options.max_device_bytes;
  if (out.n_words > 1) return out;  // k-mers come back, and the host brings them into order
  out.tables = tables_of(options.order);
  if (!out.tables.empty()) out.size_bits = options.order.size_bits();
  return out;
}

class GpuDeviceCounter : public DeviceCounter {
 public:
  GpuDeviceCounter(int device, const DeviceCounterOptions& options)
      : device_((gpu::set_device(device), device)),
        counter_(gpu::kmer::make_counter(device_options(options))) {}

  bool add(const PackedText& text) override {
    return with_device_errors([&] {
      gpu::set_device(device_);  // the calling thread may be another one than before
      return counter_->add({text.bases(), text.invalid(), text.n_letters()});
    });
  }

  void flush() override {
    with_device_errors([&] {
      gpu::set_device(device_);
      counter_->flush();
    });
  }

  bool share_texts(std::span<DeviceCounter* const> all) override {
    return with_device_errors([&] {
      std::vector<gpu::kmer::PassCounter*> counters;
      for (DeviceCounter* counter : all)
        counters.push_back(static_cast<GpuDeviceCounter*>(counter)->counter_.get());
      return counter_->share_texts(counters);
    });
  }

  void exchange() override {
    with_device_errors([&] {
      gpu::set_device(device_);
      counter_->exchange();
    });
  }

  void prepare() override {
    with_device_errors([&] {
      gpu::set_device(device_);
      counter_->prepare();
    });
  }

  std::size_t next(std::size_t max_n, std::vector<std::uint64_t>& keys,
                   std::vector<std::uint64_t>& counts) override {
    return with_device_errors([&] {
      gpu::set_device(device_);
      return counter_->next(max_n, keys, counts);
    });
  }

  bool next(std::size_t max_n, Block& block) override {
    return with_device_errors([&] {
      gpu::set_device(device_);
      if (!block.memory) block.memory = std::make_shared<gpu::kmer::HostCounts>();
      auto& memory = *static_cast<gpu::kmer::HostCounts*>(block.memory.get());
      block.n = counter_->next(max_n, memory);
      block.keys = memory.keys.data();
      block.counts = memory.counts.data();
      return block.n > 0;
    });
  }

  void clear() override { counter_->clear(); }
  std::uint64_t n_windows() const override { return counter_->n_windows(); }
  DeviceCountTimes times() const override {
    const gpu::kmer::CounterTimes times = counter_->times();
    return {times.copy_s, times.encode_s, times.sort_s, times.runs_s};
  }
  std::uint64_t peak_device_bytes() const override { return counter_->peak_bytes(); }

 private:
  int device_;
  std::unique_ptr<gpu::kmer::PassCounter> counter_;
};

class GpuDeviceLookup : public DeviceLookup {
 public:
  GpuDeviceLookup(int device, const KeyOrder& order, std::uint64_t n_keys)
      : device_((gpu::set_device(device), device)), table_(options_for(order, n_keys)) {}

  void append(std::span<const std::uint64_t> keys, std::span<const std::uint64_t> counts) override {
    with_device_errors([&] {
      gpu::set_device(device_);  // the calling thread may be another one than before
      table_.append(keys, counts);
    });
  }

  void finish() override {
    with_device_errors([&] {
      gpu::set_device(device_);
      table_.finish();
    });
  }

  void find(const std::uint64_t* keys, std::span<std::uint64_t> counts) override {
    with_device_errors([&] {
      gpu::set_device(device_);
      table_.find(keys, counts);
    });
  }

  double find_s() const override { return table_.find_s(); }

 private:
  static gpu::kmer::LookupTableOptions options_for(const KeyOrder& order, std::uint64_t n_keys) {
    gpu::kmer::LookupTableOptions options;
    options.k = order.k();
    options.n_words = words_for(options.k);
    options.n_keys = n_keys;
    options.tables = tables_of(order);
    if (!options.tables.empty()) options.size_bits = order.size_bits();
    return options;
  }

  int device_;
  gpu::kmer::LookupTable table_;
};

std::unique_ptr<DeviceCounter> make_counter(int device, const DeviceCounterOptions& options) {
  return with_device_errors([&]() -> std::unique_ptr<DeviceCounter> {
    return std::make_unique<GpuDeviceCounter>(device, options);
  });
}

std::unique_ptr<DeviceLookup> make_lookup(int device, const KeyOrder& order, std::uint64_t n_keys) {
  return with_device_errors([&]() -> std::unique_ptr<DeviceLookup> {
    return std::make_unique<GpuDeviceLookup>(device, order, n_keys);
  });
}

}  // namespace

const GpuTable kGpuTable = {&make_counter, &make_lookup};

}  // namespace biogpu::kmer
