#pragma once

// The one place that knows which vendor is compiled for. Kernels and the runtime layer are written
// in HIP; the include path decides who answers <hip/hip_runtime.h>: AMD's own headers, our list of
// HIP names over CUDA (third_party/hip_on_cuda), or the emulated platform
// (third_party/hip_on_host).
#include <hip/hip_runtime.h>

#include <cstdint>
#include <string>
#if defined(BIOGPU_GPU_EMULATED)
#include <hip/hip_clusters.h>
#endif

#if defined(BIOGPU_GPU_CUDA)
#define BIOGPU_PLATFORM_NAME "cuda"
#elif defined(BIOGPU_GPU_ROCM)
#define BIOGPU_PLATFORM_NAME "rocm"
#elif defined(BIOGPU_GPU_EMULATED)
#define BIOGPU_PLATFORM_NAME "emulated"
#else
#error "define BIOGPU_GPU_CUDA, BIOGPU_GPU_ROCM or BIOGPU_GPU_EMULATED"
#endif

// Dynamic shared memory as an array of T, 16-byte aligned; the size is given at launch.
#if defined(BIOGPU_GPU_EMULATED)
// NOLINTNEXTLINE(bugprone-macro-parentheses): T is a type
#define BIOGPU_DYNAMIC_SHARED(T, name) T* name = static_cast<T*>(::hip_on_host::dynamic_shared())
#else
#define BIOGPU_DYNAMIC_SHARED(T, name)                                         \
  extern __shared__ __align__(16) unsigned char biogpu_dynamic_shared_bytes[]; \
  T* name = reinterpret_cast<T*>(biogpu_dynamic_shared_bytes)
#endif

// Threads of a block and how many blocks a multiprocessor should hold. The second argument of
// __launch_bounds__ counts blocks on NVIDIA and waves of an execution unit on AMD, so only the
// first is passed there.
#if defined(BIOGPU_GPU_CUDA)
#define BIOGPU_LAUNCH_BOUNDS(threads, blocks) __launch_bounds__(threads, blocks)
#else
#define BIOGPU_LAUNCH_BOUNDS(threads, blocks) __launch_bounds__(threads)
#endif

namespace biogpu::gpu {

// "sm_90", "gfx942", "emulated".
inline std::string architecture_name(const hipDeviceProp_t& properties) {
#if defined(BIOGPU_GPU_CUDA)
  return "sm_" + std::to_string(properties.major) + std::to_string(properties.minor);
#else
  const std::string name(properties.gcnArchName);  // "gfx90a:sramecc+:xnack-"
  return name.substr(0, name.find(':'));
#endif
}

// The largest dynamic shared memory of one block. NVIDIA gives more than its default on request.
inline std::uint64_t shared_limit_bytes(const hipDeviceProp_t& properties) {
#if defined(BIOGPU_GPU_CUDA)
  return properties.sharedMemPerBlockOptin;
#else
  return properties.sharedMemPerBlock;
#endif
}

}  // namespace biogpu::gpu
