// The GPU backend's side of lib/kmer/gpu_counter.hpp.
#include "gpu/kmer/counter.hpp"
#include "gpu/rt/device.hpp"
#include "lib/core/device_errors.hpp"
#include "lib/kmer/gpu_counter.hpp"

namespace biogpu::kmer {
namespace {

gpu::kmer::CounterOptions device_options(const GpuCountOptions& options) {
  gpu::kmer::CounterOptions out;
  out.k = options.order.k();
  out.canonical = options.canonical;
  out.part = options.part;
  out.n_parts = options.n_parts;
  out.max_device_bytes = options.max_device_bytes;
  if (options.order.keeps_keys()) return out;
  out.size_bits = options.order.size_bits();
  for (const auto& table : options.order.position_tables())
    out.tables.insert(out.tables.end(), table.begin(), table.end());
  return out;
}

class BackendCounter : public GpuCounter {
 public:
  BackendCounter(int device, const GpuCountOptions& options)
      : device_((gpu::set_device(device), device)), counter_(device_options(options)) {}

  bool add(std::string_view letters) override {
    return with_device_errors([&] {
      gpu::set_device(device_);  // the calling thread may be another one than before
      return counter_.add(letters.data(), letters.size());
    });
  }

  std::size_t next(std::size_t max_n, std::vector<std::uint64_t>& places,
                   std::vector<std::uint64_t>& counts) override {
    return with_device_errors([&] {
      gpu::set_device(device_);
      return counter_.next(max_n, places, counts);
    });
  }

  void clear() override { counter_.clear(); }
  std::uint64_t n_windows() const override { return counter_.n_windows(); }
  GpuCountTimes times() const override {
    const gpu::kmer::CounterTimes& times = counter_.times();
    return {times.pack_s, times.place_s, times.sort_s, times.runs_s};
  }
  std::uint64_t peak_device_bytes() const override { return counter_.peak_bytes(); }

 private:
  int device_;
  gpu::kmer::Counter counter_;
};

}  // namespace

std::unique_ptr<GpuCounter> make_gpu_counter_of_backend(int device,
                                                        const GpuCountOptions& options) {
  return with_device_errors([&]() -> std::unique_ptr<GpuCounter> {
    return std::make_unique<BackendCounter>(device, options);
  });
}

}  // namespace biogpu::kmer
