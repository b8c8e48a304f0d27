#pragma once

// For .hip files: launches and the vendor's device language.
#include <type_traits>

#include "gpu/rt/check.hpp"
#include "gpu/rt/hip.hpp"
#include "gpu/rt/stream.hpp"

namespace biogpu::gpu {

template <class Integer>
__host__ __device__ constexpr Integer ceil_div(Integer n, std::type_identity_t<Integer> by) {
  return (n + by - 1) / by;
}

// Lets a kernel have as much dynamic shared memory on the current device, and never less again:
// threads that launch it with other sizes do not disturb each other. Throws DeviceError.
void allow_shared(const void* kernel, std::size_t bytes);

template <class... Parameters, class... Arguments>
void Stream::launch_shared(void (*kernel)(Parameters...), std::size_t n_blocks, unsigned n_threads,
                           std::size_t shared_bytes, Arguments&&... arguments) {
  // NVIDIA's default limit counts a kernel's static shared memory too, which is not known here.
  if (shared_bytes > 0) allow_shared(reinterpret_cast<const void*>(kernel), shared_bytes);
  hipLaunchKernelGGL(kernel, dim3(static_cast<unsigned>(n_blocks)), dim3(n_threads), shared_bytes,
                     static_cast<hipStream_t>(handle_), std::forward<Arguments>(arguments)...);
  BIOGPU_HIP(hipGetLastError());
}

// Queues a kernel whose blocks form clusters, as BIOGPU_CLUSTER_OF (gpu/prim/warpgroup.hpp) says at
// it.
template <class... Parameters, class... Arguments>
void launch_clusters(Stream& stream, void (*kernel)(Parameters...), std::size_t n_blocks,
                     [[maybe_unused]] int cluster, unsigned n_threads, std::size_t shared_bytes,
                     Arguments&&... arguments) {
#if defined(BIOGPU_GPU_EMULATED)
  allow_shared(reinterpret_cast<const void*>(kernel), shared_bytes);
  hip_on_host::launch_clusters(
      kernel, static_cast<unsigned>(n_blocks), static_cast<unsigned>(cluster),
      hip_on_host::Clusters::in_turn, dim3(n_threads), shared_bytes,
      static_cast<hipStream_t>(stream.handle()), std::forward<Arguments>(arguments)...);
#else
  stream.launch_shared(kernel, n_blocks, n_threads, shared_bytes,
                       std::forward<Arguments>(arguments)...);
#endif
}

}  // namespace biogpu::gpu
