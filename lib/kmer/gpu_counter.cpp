#include "lib/kmer/gpu_counter.hpp"

#include <string>

#include "lib/core/error.hpp"
#include "lib/core/gpu_backend.hpp"

namespace biogpu::kmer {

std::unique_ptr<GpuCounter> make_gpu_counter(int device, const GpuCountOptions& options) {
  std::string why;
  const GpuBackend* backend = gpu_backend(&why);
  if (backend == nullptr) throw Error(ErrorCode::device, why);
  if (backend->make_kmer_counter == nullptr)
    throw Error(ErrorCode::device, "the GPU backend counts no k-mers");
  return backend->make_kmer_counter(device, options);
}

}  // namespace biogpu::kmer
