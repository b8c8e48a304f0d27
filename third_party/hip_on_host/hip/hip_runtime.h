#pragma once

// The HIP platform emulated on the CPU, for tests: kernels run unchanged, blocks in sequence,
// threads as fibers. The wave width, the number of devices and their memory are read from the
// environment once, when the first device call is made:
//   BIOGPU_EMULATED_WAVE     32 or 64 (default 32)
//   BIOGPU_EMULATED_DEVICES  0 to 8 (default 1)
//   BIOGPU_EMULATED_MEMORY   bytes of each device (default 1 GiB); above it hipMalloc fails
//   BIOGPU_EMULATED_ORDER    seed: threads take their turns in a random order instead of ascending,
//                            and now and then a wave or a block falls behind
//   BIOGPU_EMULATED_CLUSTERS 1: with what NVIDIA has from 9.0 on (hip_clusters.h)
// Work queued on a stream runs only at a call that waits for it, so that a missing wait shows.
// Device memory cannot be read or written by host code (outside sanitizer builds, which see more by
// their own means). A kernel whose threads wait for each other in vain ends the program with a
// message.
//
// A whitelist: a HIP name that is missing here is a decision to be made, not an oversight to be
// coded around. Include after the standard headers: threadIdx and its kin are macros.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <type_traits>

#define __global__
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline
#define __shared__ static
#define __launch_bounds__(...)

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

// ---- runtime -----------------------------------------------------------------------------------

enum hipError_t {
  hipSuccess = 0,
  hipErrorInvalidValue = 1,
  hipErrorOutOfMemory = 2,
  hipErrorInsufficientDriver = 35,
  hipErrorNoDevice = 100,
  hipErrorInvalidDevice = 101,
  hipErrorNoBinaryForGpu = 209,
  hipErrorInvalidHandle = 400,
  hipErrorNotReady = 600,
  hipErrorPeerAccessAlreadyEnabled = 704,
};
enum hipMemcpyKind {
  hipMemcpyHostToHost = 0,
  hipMemcpyHostToDevice = 1,
  hipMemcpyDeviceToHost = 2,
  hipMemcpyDeviceToDevice = 3,
};
enum hipFuncAttribute { hipFuncAttributeMaxDynamicSharedMemorySize = 8 };
inline constexpr unsigned hipStreamNonBlocking = 1;
inline constexpr unsigned hipEventDefault = 0;
inline constexpr unsigned hipHostMallocDefault = 0;

namespace hip_on_host {
struct Stream;
struct Event;
struct Graph;
}  // namespace hip_on_host
using hipGraph_t = hip_on_host::Graph*;
using hipGraphExec_t = hip_on_host::Graph*;
using hipGraphNode_t = void*;
enum hipStreamCaptureMode { hipStreamCaptureModeThreadLocal = 1 };
using hipStream_t = hip_on_host::Stream*;
using hipEvent_t = hip_on_host::Event*;

struct hipDeviceProp_t {
  char name[64];
  char gcnArchName[64];
  int major, minor;
  int warpSize;
  int multiProcessorCount;
  std::size_t totalGlobalMem;
  std::size_t sharedMemPerBlock;
  std::size_t sharedMemPerBlockOptin;
  std::size_t sharedMemPerMultiprocessor;
};

const char* hipGetErrorName(hipError_t error);
const char* hipGetErrorString(hipError_t error);
hipError_t hipGetLastError();
hipError_t hipGetDeviceCount(int* count);
hipError_t hipSetDevice(int device);
hipError_t hipGetDevice(int* device);
hipError_t hipGetDeviceProperties(hipDeviceProp_t* properties, int device);
hipError_t hipDeviceCanAccessPeer(int* can, int device, int peer);
hipError_t hipDeviceEnablePeerAccess(int peer, unsigned flags);
hipError_t hipDeviceSynchronize();
hipError_t hipMemGetInfo(std::size_t* free_bytes, std::size_t* total_bytes);
hipError_t hipMalloc(void** memory, std::size_t bytes);
hipError_t hipFree(void* memory);
hipError_t hipHostMalloc(void** memory, std::size_t bytes, unsigned flags = 0);
hipError_t hipHostFree(void* memory);
hipError_t hipMemcpy(void* to, const void* from, std::size_t bytes, hipMemcpyKind kind);
hipError_t hipMemcpyAsync(void* to, const void* from, std::size_t bytes, hipMemcpyKind kind,
                          hipStream_t stream);
hipError_t hipMemset(void* memory, int byte, std::size_t bytes);
hipError_t hipMemsetAsync(void* memory, int byte, std::size_t bytes, hipStream_t stream);
hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned flags);
hipError_t hipStreamDestroy(hipStream_t stream);
hipError_t hipStreamSynchronize(hipStream_t stream);
hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned flags);
hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned flags);
hipError_t hipEventDestroy(hipEvent_t event);
hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream);
hipError_t hipEventSynchronize(hipEvent_t event);
hipError_t hipEventQuery(hipEvent_t event);
hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t start, hipEvent_t stop);
hipError_t hipFuncSetAttribute(const void* kernel, hipFuncAttribute attribute, int value);
// Work queued between begin and end is kept in the graph and not run.
hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode mode);
hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t* graph);
hipError_t hipGraphInstantiate(hipGraphExec_t* instance, hipGraph_t graph, hipGraphNode_t* node,
                               char* log, std::size_t log_bytes);
hipError_t hipGraphLaunch(hipGraphExec_t instance, hipStream_t stream);
hipError_t hipGraphDestroy(hipGraph_t graph);
hipError_t hipGraphExecDestroy(hipGraphExec_t instance);

// ---- threads of a running kernel ---------------------------------------------------------------

namespace hip_on_host {

// An operation that all live lanes of a wave take part in together; lanes that meet at different
// ones are a defect of the kernel.
enum class WaveOperation { none, shuffle, lend, ballot, barrier };

const dim3& thread_index();
const dim3& block_index();
const dim3& block_extent();
const dim3& grid_extent();
void* dynamic_shared();
int wave_width();
int lane();

void block_barrier();
// Lends the value (at most 16 bytes) to the wave, waits for all live lanes, and copies out the
// value of source_lane; one that takes no part gives bytes of 0xA5.
void exchange(const void* value, void* result, std::size_t bytes, int source_lane);
std::uint64_t ballot(bool vote);
void wave_barrier();

// A kernel whose stream is of another device than the thread's current one is not launched.
hipError_t queue_kernel(Stream* stream, std::function<void()> work);
void run_grid(const dim3& grid, const dim3& block, std::size_t shared_bytes,
              const std::function<void()>& thread_body);

template <class T>
T shuffle(T value, int source_lane) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 16);
  T result;
  exchange(&value, &result, sizeof(T), source_lane);
  return result;
}

template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, std::size_t shared_bytes,
            hipStream_t stream, Arguments... arguments) {
  // As a launch itself: hipGetLastError() tells.
  (void)queue_kernel(stream,
                     [=] { run_grid(grid, block, shared_bytes, [=] { kernel(arguments...); }); });
}

}  // namespace hip_on_host

#define threadIdx (::hip_on_host::thread_index())
#define blockIdx (::hip_on_host::block_index())
#define blockDim (::hip_on_host::block_extent())
#define gridDim (::hip_on_host::grid_extent())
#define HIP_KERNEL_NAME(...) __VA_ARGS__
#define hipLaunchKernelGGL(kernel, grid, block, shared_bytes, stream, ...) \
  ::hip_on_host::launch((kernel), dim3(grid), dim3(block), (shared_bytes), \
                        (stream)__VA_OPT__(, ) __VA_ARGS__)

inline void __syncthreads() { hip_on_host::block_barrier(); }
inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_block() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

// Shuffles as HIP has them, without a mask: all live lanes take part. width: a power of two.
template <class T>
T __shfl(T value, int source, int width = hip_on_host::wave_width()) {
  const int group = hip_on_host::lane() / width * width;
  return hip_on_host::shuffle(value, group + (source & (width - 1)));
}
template <class T>
T __shfl_xor(T value, int mask, int width = hip_on_host::wave_width()) {
  const int lane = hip_on_host::lane();
  const int source = lane ^ mask;
  return hip_on_host::shuffle(value, source / width == lane / width ? source : lane);
}
template <class T>
T __shfl_up(T value, unsigned delta, int width = hip_on_host::wave_width()) {
  const int lane = hip_on_host::lane();
  const int in_group = lane % width - static_cast<int>(delta);
  return hip_on_host::shuffle(value, in_group >= 0 ? lane - static_cast<int>(delta) : lane);
}
template <class T>
T __shfl_down(T value, unsigned delta, int width = hip_on_host::wave_width()) {
  const int lane = hip_on_host::lane();
  const int in_group = lane % width + static_cast<int>(delta);
  return hip_on_host::shuffle(value, in_group < width ? lane + static_cast<int>(delta) : lane);
}
inline std::uint64_t __ballot(int vote) { return hip_on_host::ballot(vote != 0); }
inline int __any(int vote) { return hip_on_host::ballot(vote != 0) != 0; }
inline int __all(int vote) { return hip_on_host::ballot(vote == 0) == 0; }

inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
inline int __clzll(long long x) {
  return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x));
}
template <class T>
T __ldg(const T* pointer) {
  return *pointer;
}

template <class T>
T atomicAdd(T* address, std::type_identity_t<T> value) {
  if constexpr (std::is_integral_v<T>) {
    return __atomic_fetch_add(address, value, __ATOMIC_RELAXED);
  } else {
    const T old = *address;  // one thread runs at a time
    *address = old + value;
    return old;
  }
}
template <class T>
T atomicMax(T* address, std::type_identity_t<T> value) {
  const T old = *address;
  if (value > old) *address = value;
  return old;
}
template <class T>
T atomicMin(T* address, std::type_identity_t<T> value) {
  const T old = *address;
  if (value < old) *address = value;
  return old;
}
template <class T>
T atomicOr(T* address, std::type_identity_t<T> value) {
  return __atomic_fetch_or(address, value, __ATOMIC_RELAXED);
}
template <class T>
T atomicExch(T* address, std::type_identity_t<T> value) {
  const T old = *address;
  *address = value;
  return old;
}
template <class T>
T atomicCAS(T* address, std::type_identity_t<T> expected, std::type_identity_t<T> value) {
  const T old = *address;
  if (old == expected) *address = value;
  return old;
}
