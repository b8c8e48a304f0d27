#pragma once

// Which instruction sets the SIMD sources are compiled for; included before anything of Highway.
// Without this, Highway's floor on x86 is scalar code, which has no table look-up. A program on a
// CPU older than SSE4.2 and AES is refused by prepare_cpu_isa().
#if defined(__x86_64__)
#define HWY_BASELINE_TARGETS HWY_SSE4
#endif
#define HWY_WANT_AVX3_DL
#if defined(__aarch64__)
// NEON alone: vectors of SVE have no size when compiled, and these kernels keep arrays of vectors.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#else
// Disabled: targets that newer releases of Highway added next to AVX3_DL, SSSE3 and SSE2, which
// cost build time and bring these kernels nothing. Sanitized builds, slow to compile, leave out
// AVX3_DL and AVX2 (bits 7 and 9) too.
#ifdef BIOGPU_FEWER_TARGETS
#define HWY_DISABLED_TARGETS \
  ((1LL << 4) | (1LL << 5) | (1LL << 6) | (1LL << 7) | (1LL << 9) | (1LL << 12) | (1LL << 14))
#else
#define HWY_DISABLED_TARGETS ((1LL << 4) | (1LL << 5) | (1LL << 6) | (1LL << 12) | (1LL << 14))
#endif
#endif
