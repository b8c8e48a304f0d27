#include "lib/qc/batch/gpu_pool.hpp"

#include <utility>

#include "lib/core/error.hpp"
#include "lib/core/gpu_backend.hpp"

namespace biogpu::qc {

GpuPool::GpuPool(std::function<std::vector<int>()> choose, bool wait, const Options& options)
    : options_(options), wait_(wait) {
  if (!choose) return;
  if (wait) {
    open(choose);
    return;
  }
  opening_ = async_with_backend([this, choose = std::move(choose)] {
    try {
      open(choose);
    } catch (const Error& error) {
      remark_ = std::string("the GPU is not used: ") + error.what();
    }
  });
}

void GpuPool::open(const std::function<std::vector<int>()>& choose) {
  devices_ = choose();
  if (devices_.empty()) return;
  first_ = make_gpu_steps(devices_[0], options_);
  has_first_ = true;
  is_open_ = true;
}

std::unique_ptr<GpuSteps> GpuPool::make() {
  if (!is_open_) return nullptr;
  const std::size_t number = n_made_++;
  if (has_first_.exchange(false)) return std::move(first_);
  try {
    return make_gpu_steps(devices_[number % devices_.size()], options_);
  } catch (const Error& error) {
    if (wait_ || error.code() != ErrorCode::device_memory) throw;
    is_open_ = false;  // those that have their steps go on
    return nullptr;
  }
}

std::string GpuPool::remark() {
  if (opening_.valid()) opening_.get();
  return remark_;
}

}  // namespace biogpu::qc
