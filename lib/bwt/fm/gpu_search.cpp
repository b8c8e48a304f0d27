#include "lib/bwt/fm/gpu_search.hpp"

#include "lib/core/error.hpp"
#include "lib/core/gpu_backend.hpp"

namespace biogpu::bwt {
namespace {

const GpuBackend& backend_or_error() {
  std::string why;
  const GpuBackend* const backend = gpu_backend(&why);
  if (backend == nullptr) throw Error(ErrorCode::device, why);
  return *backend;
}

}  // namespace

void sort_suffixes_gpu(int device, const GpuSortJob& job, GpuSortReport& report) {
  backend_or_error().sort_suffixes(device, job, report);
}

std::unique_ptr<GpuSearch> make_gpu_search(int device, const FmIndex& index) {
  return backend_or_error().make_bwt_search(device, index);
}

}  // namespace biogpu::bwt
