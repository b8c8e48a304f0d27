#pragma once

// What only Hopper has (compute capability 9.0, code compiled for sm_90a): copies of whole boxes of
// a matrix by one thread, barriers in shared memory that count bytes, and registers that move from
// one warpgroup to another. The emulated platform has them all (warpgroup_emulated.hpp). Elsewhere
// the functions are empty: kernels built on them are compiled where kHasWarpgroups says so, and
// launched where has_warpgroups() does.
//
// Source  NVIDIA PTX ISA 8.7: mbarrier, cp.async.bulk.tensor, wgmma, setmaxnreg.
#include <cstdint>

#include "gpu/prim/wave.hpp"
#include "gpu/rt/hip.hpp"
#include "gpu/rt/tensor_map.hpp"
#if defined(BIOGPU_GPU_EMULATED)
#include "gpu/prim/warpgroup_emulated.hpp"
#endif

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define BIOGPU_HAS_WARPGROUPS 1
#endif

// Of a kernel: a parameter that the copy engine reads, and the blocks that form a cluster.
#if defined(BIOGPU_GPU_CUDA)
#define BIOGPU_GRID_CONSTANT __grid_constant__
#define BIOGPU_CLUSTER_OF(blocks) __cluster_dims__(blocks, 1, 1)
#else
#define BIOGPU_GRID_CONSTANT
#define BIOGPU_CLUSTER_OF(blocks)
#endif

namespace biogpu::gpu {

#if defined(BIOGPU_GPU_CUDA) || defined(BIOGPU_GPU_EMULATED)
inline constexpr bool kHasWarpgroups = true;
#else
inline constexpr bool kHasWarpgroups = false;
#endif

inline constexpr int kWarpgroup = 128;  // threads

// A barrier in shared memory. A phase ends when as many arrivals as it was made for have come, and
// all bytes that were announced. Phases are told apart by their parity alone: who waits must not be
// a whole round behind or ahead. The phase before the first counts as over, with parity 1.
using SharedBarrier = std::uint64_t;

// The thread's wave and warpgroup, which the compiler then knows to be the same for all threads of
// a wave.
__device__ __forceinline__ int wave_of_block() {
  return wave_shuffle<32>(static_cast<int>(threadIdx.x) / 32, 0);
}
__device__ __forceinline__ int warpgroup_of_block() { return wave_of_block() / (kWarpgroup / 32); }

#if defined(BIOGPU_HAS_WARPGROUPS)

__device__ __forceinline__ std::uint32_t shared_address(const void* p) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
}

__device__ __forceinline__ void barrier_init(SharedBarrier* barrier, int n_arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)),
               "r"(n_arrivals)
               : "memory");
}

// Makes initialised barriers visible to the copy engine and to the cluster; a barrier of the block
// or the cluster follows.
__device__ __forceinline__ void barrier_init_done() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("fence.proxy.async;" ::: "memory");
}

__device__ __forceinline__ void barrier_arrive(SharedBarrier* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier))
               : "memory");
}

// Arrives at the barrier in the same place of another block of the cluster.
__device__ __forceinline__ void barrier_arrive_at(SharedBarrier* barrier, int block) {
  asm volatile(
      "{\n.reg .b32 remote;\n"
      "mapa.shared::cluster.u32 remote, %0, %1;\n"
      "mbarrier.arrive.shared::cluster.b64 _, [remote];\n}\n" ::"r"(shared_address(barrier)),
      "r"(block)
      : "memory");
}

// Arrives and announces bytes that copies will bring.
__device__ __forceinline__ void barrier_expect(SharedBarrier* barrier, int bytes) {
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
      "r"(bytes)
      : "memory");
}

__device__ __forceinline__ bool barrier_try(SharedBarrier* barrier, int parity) {
  std::uint32_t done;
  asm volatile(
      "{\n.reg .pred p;\n"
      "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
      "selp.u32 %0, 1, 0, p;\n}\n"
      : "=r"(done)
      : "r"(shared_address(barrier)), "r"(parity)
      : "memory");
  return done != 0;
}

// Waits until the phase of this parity is over. A fault elsewhere must not hang the device: after
// some seconds the kernel ends with an error. Not by __trap(): where a kernel has one, the compiler
// gives no branch more registers than all threads begin with, whatever take_registers() says.
__device__ __forceinline__ void barrier_wait(SharedBarrier* barrier, int parity) {
  if (barrier_try(barrier, parity)) return;
  constexpr long long kTooLong = 8'000'000'000;  // cycles
  const long long start = clock64();
  while (!barrier_try(barrier, parity)) {
    if (clock64() - start > kTooLong)
      asm volatile("st.global.u32 [%0], 0;" ::"l"(std::uint64_t{0}) : "memory");
  }
}

// One thread: the box of the map's matrix at (row, column) to shared memory, zeros outside of the
// matrix, also above its first row; its bytes arrive at the barrier.
__device__ __forceinline__ void copy_box(void* to, const TensorMap* map, int row, int column,
                                         SharedBarrier* barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      " [%0], [%1, {%3, %4}], [%2];" ::"r"(shared_address(to)),
      "l"(map), "r"(shared_address(barrier)), "r"(column), "r"(row)
      : "memory");
}

// The same to the blocks of the cluster whose bits are set, to the same place in each.
__device__ __forceinline__ void copy_box_to(void* to, const TensorMap* map, int row, int column,
                                            SharedBarrier* barrier, int blocks) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%3, %4}], [%2], %5;" ::"r"(shared_address(to)),
      "l"(map), "r"(shared_address(barrier)), "r"(column), "r"(row),
      "h"(static_cast<std::uint16_t>(blocks))
      : "memory");
}

// The same for a box of heads (make_heads_map) from `row` on of one head and batch row.
__device__ __forceinline__ void copy_head_box(void* to, const TensorMap* map, int row, int head,
                                              int batch, SharedBarrier* barrier) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      " [%0], [%1, {%3, %4, %5, %6}], [%2];" ::"r"(shared_address(to)),
      "l"(map), "r"(shared_address(barrier)), "r"(0), "r"(row), "r"(head), "r"(batch)
      : "memory");
}

// copy_box() of a matrix with layers.
__device__ __forceinline__ void copy_layer_box(void* to, const TensorMap* map, int layer, int row,
                                               int column, SharedBarrier* barrier) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      " [%0], [%1, {%3, %4, %5}], [%2];" ::"r"(shared_address(to)),
      "l"(map), "r"(shared_address(barrier)), "r"(column), "r"(row), "r"(layer)
      : "memory");
}
__device__ __forceinline__ void copy_layer_box_to(void* to, const TensorMap* map, int layer,
                                                  int row, int column, SharedBarrier* barrier,
                                                  int blocks) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%3, %4, %5}], [%2], %6;" ::"r"(shared_address(to)),
      "l"(map), "r"(shared_address(barrier)), "r"(column), "r"(row), "r"(layer),
      "h"(static_cast<std::uint16_t>(blocks))
      : "memory");
}

// One thread: asks for bytes to come to L2. Address and count are multiples of 16.
__device__ __forceinline__ void prefetch_bytes(const void* from, std::uint32_t bytes) {
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from), "r"(bytes) : "memory");
}

// What threads stored to shared memory becomes visible to the copy engine: each of them, before a
// barrier behind which one thread starts the copy.
__device__ __forceinline__ void publish_shared() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// One thread: a box of shared memory to the matrix, what lies beyond it left out.
__device__ __forceinline__ void store_box(const TensorMap* map, int row, int column,
                                          const void* from) {
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"(map),
      "r"(shared_address(from)), "r"(column), "r"(row)
      : "memory");
}

// The same for a box of heads.
__device__ __forceinline__ void store_head_box(const TensorMap* map, int row, int head, int batch,
                                               const void* from) {
  asm volatile(
      "cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4, %5}], "
      "[%1];" ::"l"(map),
      "r"(shared_address(from)), "r"(0), "r"(row), "r"(head), "r"(batch)
      : "memory");
}

// The same of a matrix with layers.
__device__ __forceinline__ void store_layer_box(const TensorMap* map, int layer, int row,
                                                int column, const void* from) {
  asm volatile(
      "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4}], [%1];" ::"l"(
          map),
      "r"(shared_address(from)), "r"(column), "r"(row), "r"(layer)
      : "memory");
}

// store_box(), added to what the matrix holds.
__device__ __forceinline__ void add_box(const TensorMap* map, int row, int column,
                                        const void* from) {
  asm volatile(
      "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%0, {%2, %3}], "
      "[%1];" ::"l"(map),
      "r"(shared_address(from)), "r"(column), "r"(row)
      : "memory");
}

// The thread's stores so far form a group; waits until shared memory of all but kLeft groups has
// been read.
__device__ __forceinline__ void stores_commit() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
template <int kLeft>
__device__ __forceinline__ void stores_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kLeft) : "memory");
}

// 4 tiles of 8 x 8 numbers of 16 bits to shared memory: lane l gives the address of row l % 8 of
// tile l / 8, and holds row l / 4, columns 2 (l % 4) and the next of each.
__device__ __forceinline__ void store_tiles4(std::uint32_t address, const std::uint32_t* word) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address),
               "r"(word[0]), "r"(word[1]), "r"(word[2]), "r"(word[3])
               : "memory");
}

// The same of tiles that turn on the way: the lane's address is that of column l % 8.
__device__ __forceinline__ void store_turned_tiles4(std::uint32_t address,
                                                    const std::uint32_t* word) {
  asm volatile(
      "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address),
      "r"(word[0]), "r"(word[1]), "r"(word[2]), "r"(word[3])
      : "memory");
}

// The reverse of store_tiles4().
__device__ __forceinline__ void load_tiles4(std::uint32_t address, std::uint32_t* word) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(word[0]), "=r"(word[1]), "=r"(word[2]), "=r"(word[3])
               : "r"(address)
               : "memory");
}

__device__ __forceinline__ void store_shared2(std::uint32_t address, float x, float y) {
  asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(address), "f"(x), "f"(y) : "memory");
}

// A barrier of the kThreads threads that name it; 0 is __syncthreads().
template <int kThreads>
__device__ __forceinline__ void named_barrier(int name) {
  asm volatile("bar.sync %0, %1;" ::"r"(name), "n"(kThreads) : "memory");
}
template <int kThreads>
__device__ __forceinline__ void named_arrive(int name) {
  asm volatile("bar.arrive %0, %1;" ::"r"(name), "n"(kThreads) : "memory");
}

__device__ __forceinline__ int block_of_cluster() {
  int block;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(block));
  return block;
}
__device__ __forceinline__ void cluster_barrier() {
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}

// Moves registers from waves that copy to waves that compute: all threads of a warpgroup, in a
// kernel whose launch bounds name the blocks of a multiprocessor.
template <int kRegisters>
__device__ __forceinline__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}
template <int kRegisters>
__device__ __forceinline__ void give_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

#elif !defined(BIOGPU_GPU_EMULATED)
__device__ __forceinline__ std::uint32_t shared_address(const void*) { return {}; }
// Every kernel built on these begins here: one compiled for another architecture and launched
// nevertheless must not pass for one that computed.
__device__ __forceinline__ void barrier_init(SharedBarrier*, int) {
#if defined(BIOGPU_GPU_CUDA)
  __trap();
#endif
}
__device__ __forceinline__ void barrier_init_done() {}
__device__ __forceinline__ void barrier_arrive(SharedBarrier*) {}
__device__ __forceinline__ void barrier_arrive_at(SharedBarrier*, int) {}
__device__ __forceinline__ void barrier_expect(SharedBarrier*, int) {}
__device__ __forceinline__ bool barrier_try(SharedBarrier*, int) { return {}; }
__device__ __forceinline__ void barrier_wait(SharedBarrier*, int) {}
__device__ __forceinline__ void copy_box(void*, const TensorMap*, int, int, SharedBarrier*) {}
__device__ __forceinline__ void copy_box_to(void*, const TensorMap*, int, int, SharedBarrier*,
                                            int) {}
__device__ __forceinline__ void copy_head_box(void*, const TensorMap*, int, int, int,
                                              SharedBarrier*) {}
__device__ __forceinline__ void store_head_box(const TensorMap*, int, int, int, const void*) {}
__device__ __forceinline__ void copy_layer_box(void*, const TensorMap*, int, int, int,
                                               SharedBarrier*) {}
__device__ __forceinline__ void copy_layer_box_to(void*, const TensorMap*, int, int, int,
                                                  SharedBarrier*, int) {}
__device__ __forceinline__ void prefetch_bytes(const void*, std::uint32_t) {}
__device__ __forceinline__ void store_layer_box(const TensorMap*, int, int, int, const void*) {}
__device__ __forceinline__ void store_turned_tiles4(std::uint32_t, const std::uint32_t*) {}
__device__ __forceinline__ void publish_shared() {}
__device__ __forceinline__ void store_box(const TensorMap*, int, int, const void*) {}
__device__ __forceinline__ void add_box(const TensorMap*, int, int, const void*) {}
__device__ __forceinline__ void stores_commit() {}
template <int kLeft>
__device__ __forceinline__ void stores_read() {}
__device__ __forceinline__ void store_tiles4(std::uint32_t, const std::uint32_t*) {}
__device__ __forceinline__ void load_tiles4(std::uint32_t, std::uint32_t*) {}
__device__ __forceinline__ void store_shared2(std::uint32_t, float, float) {}
template <int kThreads>
__device__ __forceinline__ void named_barrier(int) {}
template <int kThreads>
__device__ __forceinline__ void named_arrive(int) {}
__device__ __forceinline__ int block_of_cluster() { return {}; }
__device__ __forceinline__ void cluster_barrier() {}
template <int kRegisters>
__device__ __forceinline__ void take_registers() {}
template <int kRegisters>
__device__ __forceinline__ void give_registers() {}
#endif

}  // namespace biogpu::gpu
