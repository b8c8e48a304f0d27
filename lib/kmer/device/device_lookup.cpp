#include "lib/kmer/device/device_lookup.hpp"

#include <utility>

#include "lib/core/error.hpp"
#include "lib/core/gpu_backend.hpp"
#include "lib/kmer/database/reader.hpp"
#include "lib/kmer/device/kmer_gpu.hpp"

namespace biogpu::kmer {
namespace {

class DatabaseOnDevice : public Lookup {
 public:
  DatabaseOnDevice(const std::string& path, int device) {
    const auto on_disk = Lookup::open(path);  // refuses what has no order
    header_ = on_disk->header();
    n_keys_ = on_disk->n_keys();
    on_device_ = make_device_lookup(device, header_.order, n_keys_);
    DatabaseReader reader(path);
    for (CountBlock block; reader.read(block);) on_device_->append(block.keys, block.counts);
    on_device_->finish();
  }

  std::uint64_t n_keys() const override { return n_keys_; }
  void find(const std::uint64_t* keys, std::span<std::uint64_t> counts) const override {
    on_device_->find(keys, counts);
  }

 private:
  std::unique_ptr<DeviceLookup> on_device_;
  std::uint64_t n_keys_ = 0;
};

}  // namespace

std::unique_ptr<DeviceLookup> make_device_lookup(int device, const KeyOrder& order,
                                                 std::uint64_t n_keys) {
  const GpuTable& backend = gpu_feature<GpuTable>();
  if (!order.is_bijective())
    throw Error(ErrorCode::device, "the database's matrix has no inverse; use --device cpu");
  return backend.make_lookup(device, order, n_keys);
}

std::unique_ptr<Lookup> open_device_lookup(const std::string& path, int device) {
  return std::make_unique<DatabaseOnDevice>(path, device);
}

}  // namespace biogpu::kmer
