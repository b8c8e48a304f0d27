#pragma once

// What only Hopper (sm_90a) has: copies of whole tiles by one thread, barriers in shared memory
// that count bytes, products of 4 waves at once. Empty functions elsewhere: kernels built on them
// are launched only where has_warpgroups() says so.

#include <cstdint>

#include "gpu/prim/tensor_map.hpp"
#include "gpu/rt/hip.hpp"

#if defined(BIOGPU_GPU_CUDA) && defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define BIOGPU_HAS_WARPGROUPS 1
#endif

#include "gpu/prim/warpgroup_product.hpp"

#if defined(BIOGPU_GPU_CUDA)
#define BIOGPU_GRID_CONSTANT __grid_constant__
#else
#define BIOGPU_GRID_CONSTANT
#endif

namespace biogpu::gpu {

inline constexpr int kWarpgroup = 128;  // threads

__device__ __forceinline__ std::uint32_t shared_address([[maybe_unused]] const void* p) {
#if defined(BIOGPU_HAS_WARPGROUPS)
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
#else
  return 0;
#endif
}

// A barrier in shared memory: a phase ends when `n_arrivals` threads have arrived and the bytes
// that were announced have come. Phases are told apart by their parity.
using SharedBarrier = std::uint64_t;

__device__ __forceinline__ void barrier_init([[maybe_unused]] SharedBarrier* barrier,
                                             [[maybe_unused]] int n_arrivals) {
#if defined(BIOGPU_HAS_WARPGROUPS)
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)),
               "r"(n_arrivals));
#endif
}

// Makes initialised barriers visible to the copy engine; a block barrier follows.
__device__ __forceinline__ void barrier_init_done() {
#if defined(BIOGPU_HAS_WARPGROUPS)
  asm volatile("fence.proxy.async;" ::: "memory");
#endif
}

__device__ __forceinline__ void barrier_arrive([[maybe_unused]] SharedBarrier* barrier) {
#if defined(BIOGPU_HAS_WARPGROUPS)
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier))
               : "memory");
#endif
}

// Arrives and announces bytes that copies will bring.
__device__ __forceinline__ void barrier_expect([[maybe_unused]] SharedBarrier* barrier,
                                               [[maybe_unused]] int bytes) {
#if defined(BIOGPU_HAS_WARPGROUPS)
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
      "r"(bytes)
      : "memory");
#endif
}

__device__ __forceinline__ void barrier_wait([[maybe_unused]] SharedBarrier* barrier,
                                             [[maybe_unused]] int parity) {
#if defined(BIOGPU_HAS_WARPGROUPS)
  std::uint32_t done = 0;
  while (done == 0) {
    asm volatile(
        "{\n.reg .pred p;\n"
        "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
        "selp.u32 %0, 1, 0, p;\n}\n"
        : "=r"(done)
        : "r"(shared_address(barrier)), "r"(parity)
        : "memory");
  }
#endif
}

// One thread: the box of the map's tensor at (row, column) to shared memory, zeros beyond the
// tensor; its bytes arrive at the barrier.
__device__ __forceinline__ void copy_box([[maybe_unused]] void* to,
                                         [[maybe_unused]] const TensorMap* map,
                                         [[maybe_unused]] int row, [[maybe_unused]] int column,
                                         [[maybe_unused]] SharedBarrier* barrier) {
#if defined(BIOGPU_HAS_WARPGROUPS)
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      " [%0], [%1, {%3, %4}], [%2];" ::"r"(shared_address(to)),
      "l"(map), "r"(shared_address(barrier)), "r"(column), "r"(row)
      : "memory");
#endif
}

// Where an operand of a product begins: rows of 128 bytes, 8 of them swizzled together; `p` may be
// moved by 16 numbers inside a row.
__device__ __forceinline__ std::uint64_t operand_place([[maybe_unused]] const void* p) {
  const std::uint64_t address = (shared_address(p) & 0x3ffffu) >> 4;
  return address | std::uint64_t{1} << 16 | std::uint64_t{1024 >> 4} << 32 | std::uint64_t{1} << 62;
}

// Products are issued between begin and commit; wait<n> until at most n committed groups are left.
__device__ __forceinline__ void products_begin() {
#if defined(BIOGPU_HAS_WARPGROUPS)
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
}
__device__ __forceinline__ void products_commit() {
#if defined(BIOGPU_HAS_WARPGROUPS)
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#endif
}
template <int kLeft>
__device__ __forceinline__ void products_wait() {
#if defined(BIOGPU_HAS_WARPGROUPS)
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kLeft) : "memory");
#endif
}

// Moves registers from waves that copy to waves that compute. All threads of a warpgroup.
template <int kRegisters>
__device__ __forceinline__ void take_registers() {
#if defined(BIOGPU_HAS_WARPGROUPS)
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
#endif
}
template <int kRegisters>
__device__ __forceinline__ void give_registers() {
#if defined(BIOGPU_HAS_WARPGROUPS)
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
#endif
}

}  // namespace biogpu::gpu
