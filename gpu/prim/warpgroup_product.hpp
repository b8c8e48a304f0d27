#pragma once

// Products of one warpgroup (4 waves) on Hopper's matrix cores: d[64, n] (+)= a[64, 16] b[n, 16]^T.
// Lane l of wave w holds in d[4 j + e] row 16 w + l / 4 + 8 (e / 2), column 8 j + 2 (l % 4) + e
// % 2. b lies in shared memory and a there or in registers, laid out as one wave's `d` packed to
// pairs.
//
// Source  NVIDIA PTX ISA 8.7, "Asynchronous warpgroup level matrix instructions".
#include <cstdint>

#include "gpu/prim/number16_type.hpp"
#include "gpu/prim/warpgroup.hpp"

namespace biogpu::gpu {

// What an operand says of its layout; the bits below are where it begins.
inline constexpr std::uint64_t kBoxedOperand =
    std::uint64_t{1} << 16 | std::uint64_t{1024 >> 4} << 32 | std::uint64_t{1} << 62;

inline constexpr std::uint64_t kNarrowOperand =
    std::uint64_t{1} << 16 | std::uint64_t{512 >> 4} << 32 | std::uint64_t{2} << 62;

// Where an operand begins in shared memory: rows of 128 bytes, 8 of them swizzled together, as
// copy_box() leaves them; aligned to 1024 bytes but for whole steps of 32 bytes along a row. For
// operands whose summed index runs along a row, and for those (transposed) where it runs down.
__device__ __forceinline__ std::uint64_t operand_at(const void* p) {
  const std::uint64_t address = (shared_address(p) & 0x3ffffu) >> 4;
  return address | kBoxedOperand;
}
// The same with rows of 64 bytes, as copy_head_box() leaves them; aligned to 512 bytes.
__device__ __forceinline__ std::uint64_t narrow_operand_at(const void* p) {
  const std::uint64_t address = (shared_address(p) & 0x3ffffu) >> 4;
  return address | kNarrowOperand;
}
// An operand of operand_at() or narrow_operand_at(), transposed, whose columns beyond one row lie
// `bytes` further, each row's worth of them so.
__device__ __forceinline__ std::uint64_t operand_beside(std::uint64_t operand, int bytes) {
  constexpr std::uint64_t kOne = std::uint64_t{1} << 16;
  return operand - kOne + kOne * static_cast<std::uint64_t>(bytes >> 4);
}
// The same for a transposed operand wider than 64 columns: boxes of 64 of them, box_bytes apart.
__device__ __forceinline__ std::uint64_t wide_operand_at(const void* p, int box_bytes) {
  return operand_beside(operand_at(p), box_bytes);
}
// The operand `bytes` further.
__device__ __forceinline__ std::uint64_t operand_after(std::uint64_t operand, int bytes) {
  return operand + static_cast<std::uint64_t>(bytes >> 4);
}

#if defined(BIOGPU_HAS_WARPGROUPS)
// Products are issued between begin and commit; wait<n> until at most n committed groups are left.
__device__ __forceinline__ void products_begin() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void products_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int kLeft>
__device__ __forceinline__ void products_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kLeft) : "memory");
}

// products_wait<0>() that is not moved before what x, which is not negative, was computed from.
// ptxas moves a wait before arithmetic: it takes a use of the result to hold it back.
__device__ __forceinline__ void products_wait_behind(float x) {
  asm volatile("{\n.reg .pred p;\nsetp.lt.f32 p, %0, 0f00000000;\n@p nanosleep.u32 0;\n}\n" ::"f"(x)
               : "memory");
  products_wait<0>();
}

// Keeps the compiler from touching sums before products_wait(), and from computing sums or operands
// in registers behind products_begin().
template <int kCount>
__device__ __forceinline__ void products_fence(float (&d)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) asm volatile("" : "+f"(d[i])::"memory");
}
template <int kCount>
__device__ __forceinline__ void products_fence(std::uint32_t (&operand)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) asm volatile("" : "+r"(operand[i])::"memory");
}

template <int kColumns, Number16 kType>
struct WarpgroupProduct;

#define BIOGPU_D4(i) "+f"(d[i]), "+f"(d[(i) + 1]), "+f"(d[(i) + 2]), "+f"(d[(i) + 3])
#define BIOGPU_D16(i) BIOGPU_D4(i), BIOGPU_D4((i) + 4), BIOGPU_D4((i) + 8), BIOGPU_D4((i) + 12)
#define BIOGPU_D32(i) BIOGPU_D16(i), BIOGPU_D16((i) + 16)
#define BIOGPU_N20 \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19"
#define BIOGPU_N32                                                         \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define BIOGPU_N36 BIOGPU_N32 ", %32, %33, %34, %35"
#define BIOGPU_N64                                                                   \
  BIOGPU_N32                                                                         \
  ", "                                                                               \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define BIOGPU_N80 \
  BIOGPU_N64 ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79"
#define BIOGPU_N96 \
  BIOGPU_N80 ", %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"

// both: a and b in shared memory, d = a b^T or, where it adds, d += a b^T; with kDownA or kDownB
// the summed index runs down the rows of a or b and not along them. right: a in registers; with
// kDown the summed index runs down b's rows and not along them.
#define BIOGPU_PRODUCT(COLUMNS, TYPE, PTX_TYPE, NUMBERS, I0, I1, I2, I3, I4, I5, I6, ...)         \
  template <>                                                                                     \
  struct WarpgroupProduct<COLUMNS, Number16::TYPE> {                                              \
    static constexpr int kSums = COLUMNS / 2;                                                     \
    template <bool kDownA = false, bool kDownB = kDownA>                                          \
    static __device__ __forceinline__ void both(float (&d)[kSums], std::uint64_t a,               \
                                                std::uint64_t b, int adds) {                      \
      asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" I2                                        \
                   ", 0;\n"                                                                       \
                   "wgmma.mma_async.sync.aligned.m64n" #COLUMNS "k16.f32." PTX_TYPE "." PTX_TYPE  \
                   " {" NUMBERS "}, %" I0 ", %" I1 ", p, 1, 1, %" I3 ", %" I4 ";\n}\n"            \
                   : __VA_ARGS__                                                                  \
                   : "l"(a), "l"(b), "r"(adds), "n"(kDownA ? 1 : 0), "n"(kDownB ? 1 : 0));        \
    }                                                                                             \
    template <bool kDown>                                                                         \
    static __device__ __forceinline__ void right(float (&d)[kSums], const std::uint32_t* a,       \
                                                 std::uint64_t b, int adds) {                     \
      asm volatile(                                                                               \
          "{\n.reg .pred p;\nsetp.ne.b32 p, %" I5                                                 \
          ", 0;\n"                                                                                \
          "wgmma.mma_async.sync.aligned.m64n" #COLUMNS "k16.f32." PTX_TYPE "." PTX_TYPE           \
          " {" NUMBERS "}, {%" I0 ", %" I1 ", %" I2 ", %" I3 "}, %" I4 ", p, 1, 1, %" I6 ";\n}\n" \
          : __VA_ARGS__                                                                           \
          : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(adds), "n"(kDown ? 1 : 0));   \
    }                                                                                             \
  };
#define BIOGPU_PRODUCTS(COLUMNS, NUMBERS, ...)               \
  BIOGPU_PRODUCT(COLUMNS, fp16, "f16", NUMBERS, __VA_ARGS__) \
  BIOGPU_PRODUCT(COLUMNS, bf16, "bf16", NUMBERS, __VA_ARGS__)
BIOGPU_PRODUCTS(40, BIOGPU_N20, "20", "21", "22", "23", "24", "25", "26", BIOGPU_D16(0),
                BIOGPU_D4(16))
BIOGPU_PRODUCTS(72, BIOGPU_N36, "36", "37", "38", "39", "40", "41", "42", BIOGPU_D32(0),
                BIOGPU_D4(32))
BIOGPU_PRODUCTS(64, BIOGPU_N32, "32", "33", "34", "35", "36", "37", "38", BIOGPU_D32(0))
BIOGPU_PRODUCTS(128, BIOGPU_N64, "64", "65", "66", "67", "68", "69", "70", BIOGPU_D32(0),
                BIOGPU_D32(32))
BIOGPU_PRODUCTS(160, BIOGPU_N80, "80", "81", "82", "83", "84", "85", "86", BIOGPU_D32(0),
                BIOGPU_D32(32), BIOGPU_D16(64))
BIOGPU_PRODUCTS(192, BIOGPU_N96, "96", "97", "98", "99", "100", "101", "102", BIOGPU_D32(0),
                BIOGPU_D32(32), BIOGPU_D32(64))
#undef BIOGPU_PRODUCTS
#undef BIOGPU_PRODUCT
#undef BIOGPU_N96
#undef BIOGPU_N80
#undef BIOGPU_N64
#undef BIOGPU_N36
#undef BIOGPU_N32
#undef BIOGPU_N20
#undef BIOGPU_D32
#undef BIOGPU_D16
#undef BIOGPU_D4

#elif !defined(BIOGPU_GPU_EMULATED)
__device__ __forceinline__ void products_begin() {}
__device__ __forceinline__ void products_commit() {}
template <int kLeft>
__device__ __forceinline__ void products_wait() {}
__device__ __forceinline__ void products_wait_behind(float) {}
template <class Word, int kCount>
__device__ __forceinline__ void products_fence(Word (&)[kCount]) {}

template <int kColumns, Number16 kType>
struct WarpgroupProduct {
  static constexpr int kSums = kColumns / 2;
  template <bool kDownA = false, bool kDownB = kDownA>
  static __device__ __forceinline__ void both(float (&)[kSums], std::uint64_t, std::uint64_t, int) {
  }
  template <bool kDown>
  static __device__ __forceinline__ void right(float (&)[kSums], const std::uint32_t*,
                                               std::uint64_t, int) {}
};
#endif

}  // namespace biogpu::gpu

#if defined(BIOGPU_GPU_EMULATED)
#include "gpu/prim/warpgroup_product_emulated.hpp"
#endif
