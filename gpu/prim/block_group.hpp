#pragma once

// Groups of neighbouring blocks of a grid that are certain to run at the same time, that write into
// each other's shared memory and have a barrier of their own in hardware: clusters of NVIDIA from
// compute capability 9.0 on, and of the emulated platform where it has them. With them, words in
// device memory by which groups wait for each other.
//
// Elsewhere has_block_groups() is false. There a test can launch the kernel once for each stretch
// of work between two barriers, and what a block would keep in shared memory from one stretch to
// the next lies in device memory, in a room of its own.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "gpu/prim/async_copy.hpp"
#include "gpu/prim/bulk_copy.hpp"
#include "gpu/prim/wave.hpp"
#include "gpu/rt/device.hpp"
#include "gpu/rt/kernel.hpp"
#include "gpu/rt/tensor_map.hpp"

namespace biogpu::gpu {

// Of the current device.
inline bool has_block_groups() {
#if defined(BIOGPU_GPU_CUDA)
  int has = 0;
  BIOGPU_HIP(cudaDeviceGetAttribute(&has, cudaDevAttrClusterLaunch, current_device()));
  return has != 0;
#else
  return has_warpgroups();
#endif
}

// Whether kernels for such groups are compiled, and whether tests run them in their other form.
#if defined(BIOGPU_GPU_EMULATED)
inline constexpr bool kCompilesBlockGroups = true, kImitatesBlockGroups = true;
#elif defined(BIOGPU_GPU_CUDA)
inline constexpr bool kCompilesBlockGroups = true, kImitatesBlockGroups = false;
#else
inline constexpr bool kCompilesBlockGroups = false, kImitatesBlockGroups = false;
#endif

// After group_wait() all threads of all blocks of the group have called group_arrive(), and the
// arrivals that they initialised before are seen; nothing else that they wrote is certain to be,
// which would take as long as a fence of the device. All threads call both.
__device__ __forceinline__ void group_arrive() {
#if defined(BIOGPU_GPU_CUDA) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
#endif
}
__device__ __forceinline__ void group_wait() {
#if defined(BIOGPU_GPU_CUDA) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#elif defined(BIOGPU_GPU_EMULATED)
  cluster_barrier();  // the arrival, too
#endif
}

// The rooms of a group's blocks: the blocks' shared memory, or pieces of device memory that lie
// `stride` bytes apart.
template <bool kGrouped>
struct GroupRooms {
  int rank;  // of this block
  std::ptrdiff_t stride;

  // The i-th block behind this one in a group of n, around its end.
  __device__ __forceinline__ int peer(int i, int n) const {
    return rank + i - (rank + i < n ? 0 : n);
  }
};

struct alignas(8) Bytes8 {
  std::uint32_t word[2];
};

// Stores Bytes8 or Bytes16 where `mine`, an address in this block's room, lies in the room
// of block `peer`; counted there by its `arrival`. Only where the lane sends.
template <bool kGrouped, class Bytes>
__device__ __forceinline__ void send_in_group([[maybe_unused]] const GroupRooms<kGrouped>& rooms,
                                              [[maybe_unused]] int peer,
                                              [[maybe_unused]] void* mine,
                                              [[maybe_unused]] const Bytes& value,
                                              [[maybe_unused]] Arrival* arrival,
                                              [[maybe_unused]] bool sends = true) {
#if defined(BIOGPU_HAS_COPY_ENGINE)
  const auto at = static_cast<std::uint32_t>(__cvta_generic_to_shared(mine));
  const auto count = static_cast<std::uint32_t>(__cvta_generic_to_shared(arrival));
  if constexpr (sizeof(Bytes) == 16) {
    asm volatile(
        "{ .reg .b32 to, done; .reg .pred sends; setp.ne.u32 sends, %7, 0; "
        "mapa.shared::cluster.u32 to, %0, %2; mapa.shared::cluster.u32 done, %1, %2; "
        "@sends st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 "
        "[to], {%3, %4, %5, %6}, [done]; }"
        :
        : "r"(at), "r"(count), "r"(peer), "r"(value.word[0]), "r"(value.word[1]),
          "r"(value.word[2]), "r"(value.word[3]), "r"(static_cast<std::uint32_t>(sends))
        : "memory");
  } else {
    asm volatile(
        "{ .reg .b32 to, done; .reg .pred sends; setp.ne.u32 sends, %5, 0; "
        "mapa.shared::cluster.u32 to, %0, %2; mapa.shared::cluster.u32 done, %1, %2; "
        "@sends st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 "
        "[to], {%3, %4}, [done]; }"
        :
        : "r"(at), "r"(count), "r"(peer), "r"(value.word[0]), "r"(value.word[1]),
          "r"(static_cast<std::uint32_t>(sends))
        : "memory");
  }
#elif defined(BIOGPU_GPU_EMULATED)
  if (!sends) return;
  if constexpr (kGrouped) {
    auto* const to = detail::in_block(static_cast<std::uint8_t*>(mine), peer);
    Arrival* const count = detail::in_block(arrival, peer);
    hip_on_host::run_beside([=] {
      std::memcpy(to, &value, sizeof value);
      detail::count_at(count, 0, -static_cast<int>(sizeof value));
    });
  } else {
    *reinterpret_cast<Bytes*>(static_cast<char*>(mine) + (peer - rooms.rank) * rooms.stride) =
        value;
  }
#endif
}

// Numbers for blocks of other groups, in a place that was filled with kAbsentWord: what is not that
// has arrived. No fence, and one way instead of three. The word itself becomes a neighbour; as two
// numbers of 16 bits both are NaN. words: 1, 2 or 4.
inline constexpr std::uint32_t kAbsentWord = 0xffffffffu;

template <int kWords>
__device__ __forceinline__ void post_words(std::uint32_t* place, std::uint32_t (&word)[kWords]) {
  static_assert(kWords == 1 || kWords == 2 || kWords == 4);
#pragma unroll
  for (int i = 0; i < kWords; ++i)
    if (word[i] == kAbsentWord) word[i] = kAbsentWord - 1;
#if defined(BIOGPU_GPU_CUDA)
  if constexpr (kWords == 4) {
    asm volatile("st.volatile.global.v4.u32 [%0], {%1, %2, %3, %4};"
                 :
                 : "l"(place), "r"(word[0]), "r"(word[1]), "r"(word[2]), "r"(word[3])
                 : "memory");
  } else if constexpr (kWords == 2) {
    asm volatile("st.volatile.global.v2.u32 [%0], {%1, %2};"
                 :
                 : "l"(place), "r"(word[0]), "r"(word[1])
                 : "memory");
  } else {
    asm volatile("st.volatile.global.u32 [%0], %1;" : : "l"(place), "r"(word[0]) : "memory");
  }
#else
#if defined(BIOGPU_GPU_EMULATED)
  if (has_block_groups()) {
    std::array<std::uint32_t, kWords> late;
    std::copy(word, word + kWords, late.begin());
    hip_on_host::run_beside([=] { std::copy(late.begin(), late.end(), place); });
    return;
  }
#endif
#pragma unroll
  for (int i = 0; i < kWords; ++i) place[i] = word[i];
#endif
}
template <int kWords>
__device__ __forceinline__ void read_words(const std::uint32_t* place,
                                           std::uint32_t (&word)[kWords]) {
#if defined(BIOGPU_GPU_CUDA)
  if constexpr (kWords == 4) {
    asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(word[0]), "=r"(word[1]), "=r"(word[2]), "=r"(word[3])
                 : "l"(place)
                 : "memory");
  } else {
    asm volatile("ld.volatile.global.v2.u32 {%0, %1}, [%2];"
                 : "=r"(word[0]), "=r"(word[1])
                 : "l"(place)
                 : "memory");
  }
#else
#pragma unroll
  for (int i = 0; i < kWords; ++i) word[i] = place[i];
#endif
}
template <int kWords>
__device__ __forceinline__ bool are_there(const std::uint32_t (&word)[kWords]) {
  bool there = true;
#pragma unroll
  for (int i = 0; i < kWords; ++i) there = there && word[i] != kAbsentWord;
  return there;
}
// In all lanes whether all have it.
template <int kWave>
__device__ __forceinline__ bool wave_all(bool vote) {
  return wave_ballot<kWave>(!vote) == 0;
}
// In a loop that reads until all is there: fails the launch after some seconds, or, emulated, when
// nothing more can come.
__device__ __forceinline__ void bound_reads([[maybe_unused]] unsigned& tries) {
#if defined(BIOGPU_GPU_CUDA)
  if (++tries > (1u << 22)) __trap();
#elif defined(BIOGPU_GPU_EMULATED)
  hip_on_host::wait_until([=] { return hip_on_host::n_done_beside() != tries; });
  tries = hip_on_host::n_done_beside();
#endif
}

// Queues a kernel whose blocks form groups of `group`, up to 8, and all run at the same time;
// n_blocks is a multiple of it. Only where has_block_groups().
template <class... Parameters, class... Arguments>
void launch_groups([[maybe_unused]] Stream& stream, [[maybe_unused]] void (*kernel)(Parameters...),
                   [[maybe_unused]] std::size_t n_blocks, [[maybe_unused]] unsigned n_threads,
                   [[maybe_unused]] std::size_t shared_bytes, [[maybe_unused]] unsigned group,
                   [[maybe_unused]] Arguments&&... arguments) {
#if defined(BIOGPU_GPU_CUDA)
  allow_shared(reinterpret_cast<const void*>(kernel), shared_bytes);
  cudaLaunchAttribute attributes[2] = {};
  attributes[0].id = cudaLaunchAttributeClusterDimension;
  attributes[0].val.clusterDim.x = group;
  attributes[0].val.clusterDim.y = 1;
  attributes[0].val.clusterDim.z = 1;
  attributes[1].id = cudaLaunchAttributeCooperative;
  attributes[1].val.cooperative = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(static_cast<unsigned>(n_blocks));
  config.blockDim = dim3(n_threads);
  config.dynamicSmemBytes = shared_bytes;
  config.stream = static_cast<hipStream_t>(stream.handle());
  config.attrs = attributes;
  config.numAttrs = 2;
  BIOGPU_HIP(cudaLaunchKernelEx(&config, kernel, std::forward<Arguments>(arguments)...));
#elif defined(BIOGPU_GPU_EMULATED)
  allow_shared(reinterpret_cast<const void*>(kernel), shared_bytes);
  hip_on_host::launch_clusters(kernel, static_cast<unsigned>(n_blocks), group,
                               hip_on_host::Clusters::together, dim3(n_threads), shared_bytes,
                               static_cast<hipStream_t>(stream.handle()),
                               std::forward<Arguments>(arguments)...);
#endif
}

// Groups of such a kernel that run at the same time on an idle device; 0 where there are none.
template <class... Parameters>
int max_groups([[maybe_unused]] void (*kernel)(Parameters...), [[maybe_unused]] unsigned n_threads,
               [[maybe_unused]] std::size_t shared_bytes, [[maybe_unused]] unsigned group) {
#if defined(BIOGPU_GPU_CUDA)
  if (!has_block_groups()) return 0;
  allow_shared(reinterpret_cast<const void*>(kernel), shared_bytes);
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = group;
  attribute.val.clusterDim.y = 1;
  attribute.val.clusterDim.z = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(group);
  config.blockDim = dim3(n_threads);
  config.dynamicSmemBytes = shared_bytes;
  config.attrs = &attribute;
  config.numAttrs = 1;
  int n = 0;
  BIOGPU_HIP(cudaOccupancyMaxActiveClusters(&n, kernel, &config));
  return n;
#elif defined(BIOGPU_GPU_EMULATED)
  constexpr unsigned kMostBlocks = 128;  // all run at the same time, each thread with a stack
  return has_block_groups() ? static_cast<int>(kMostBlocks / group) : 0;
#else
  return 0;
#endif
}

// Launches whose blocks are certain to run at the same time without being a group of the hardware,
// so that they may wait for each other's words in device memory. Elsewhere a kernel has to do with
// one block what it shares among several.
//
// Whether blocks of a launch on the current device can wait for each other. AMD has such launches,
// too, but words pass between its dies by other instructions than those of post_words.
inline bool has_resident_blocks() {
#if defined(BIOGPU_GPU_CUDA)
  int has = 0;
  BIOGPU_HIP(cudaDeviceGetAttribute(&has, cudaDevAttrCooperativeLaunch, current_device()));
  return has != 0;
#else
  return has_block_groups();
#endif
}

// Blocks of a kernel that run at the same time on an idle device.
template <class... Parameters>
int max_resident_blocks([[maybe_unused]] void (*kernel)(Parameters...),
                        [[maybe_unused]] const Stream& stream, [[maybe_unused]] unsigned n_threads,
                        [[maybe_unused]] std::size_t shared_bytes) {
#if defined(BIOGPU_GPU_CUDA)
  allow_shared(reinterpret_cast<const void*>(kernel), shared_bytes);
  int n = 0;
  BIOGPU_HIP(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, kernel, static_cast<int>(n_threads),
                                                           shared_bytes));
  return n * stream.n_multiprocessors();
#elif defined(BIOGPU_GPU_EMULATED)
  return has_block_groups() ? 128 : 0;  // each thread has a stack
#else
  return 0;
#endif
}

// n_blocks: at most max_resident_blocks(). Only where has_resident_blocks().
template <class... Parameters, class... Arguments>
void launch_resident([[maybe_unused]] Stream& stream,
                     [[maybe_unused]] void (*kernel)(Parameters...),
                     [[maybe_unused]] std::size_t n_blocks, [[maybe_unused]] unsigned n_threads,
                     [[maybe_unused]] std::size_t shared_bytes,
                     [[maybe_unused]] Arguments&&... arguments) {
#if defined(BIOGPU_GPU_CUDA)
  allow_shared(reinterpret_cast<const void*>(kernel), shared_bytes);
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeCooperative;
  attribute.val.cooperative = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(static_cast<unsigned>(n_blocks));
  config.blockDim = dim3(n_threads);
  config.dynamicSmemBytes = shared_bytes;
  config.stream = static_cast<hipStream_t>(stream.handle());
  config.attrs = &attribute;
  config.numAttrs = 1;
  BIOGPU_HIP(cudaLaunchKernelEx(&config, kernel, std::forward<Arguments>(arguments)...));
#elif defined(BIOGPU_GPU_EMULATED)
  allow_shared(reinterpret_cast<const void*>(kernel), shared_bytes);
  hip_on_host::launch_clusters(kernel, static_cast<unsigned>(n_blocks), 1,
                               hip_on_host::Clusters::together, dim3(n_threads), shared_bytes,
                               static_cast<hipStream_t>(stream.handle()),
                               std::forward<Arguments>(arguments)...);
#endif
}

}  // namespace biogpu::gpu
