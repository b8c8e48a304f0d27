#include "lib/kmer/gpu_counter.hpp"

#include "lib/core/gpu_backend.hpp"
#include "lib/kmer/kmer_gpu.hpp"

namespace biogpu::kmer {

std::unique_ptr<GpuCounter> make_gpu_counter(int device, const GpuCountOptions& options) {
  return gpu_feature<GpuTable>().make_counter(device, options);
}

}  // namespace biogpu::kmer
