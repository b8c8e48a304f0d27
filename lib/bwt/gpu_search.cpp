#include "lib/bwt/gpu_search.hpp"

#include <limits>

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

bool can_sort_on_gpu(const PackedText& text) {
  return text.bits() == 2 && text.size() < std::numeric_limits<std::uint32_t>::max();
}

BigArray<std::uint32_t> sort_suffixes_gpu(int device, const PackedText& text,
                                          GpuSortReport* report) {
  return backend_or_error().sort_suffixes(device, text, report);
}

std::unique_ptr<GpuSearch> make_gpu_search(int device, const FmIndex& index) {
  return backend_or_error().make_bwt_search(device, index);
}

}  // namespace biogpu::bwt
