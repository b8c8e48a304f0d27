#include "lib/align/search.hpp"
#include "lib/core/error.hpp"
#include "lib/core/gpu_backend.hpp"

namespace biogpu::align {

std::unique_ptr<GpuSearcher> make_gpu_searcher(int device, const SequenceSet& targets,
                                               const Options& options, const SearchOptions& search,
                                               std::uint64_t max_device_bytes) {
  std::string why;
  const GpuBackend* backend = gpu_backend(&why);
  if (backend == nullptr) throw Error(ErrorCode::device, why);
  return backend->make_searcher(device, targets, options, search, max_device_bytes);
}

}  // namespace biogpu::align
