#pragma once

// Which instruction sets the SIMD sources are compiled for; included before anything of Highway.
// Without this, Highway's floor on x86 is scalar code, which has no table look-up. A program on a
// CPU older than SSE4.2 and AES is refused by require_simd().
#if defined(__x86_64__)
#define HWY_BASELINE_TARGETS HWY_SSE4
#endif
#define HWY_WANT_AVX3_DL
// Bits of targets that newer releases of Highway added above AVX3_DL and below SSE4 (SSSE3, SSE2):
// compiling for them costs build time and brings these kernels nothing.
#define HWY_DISABLED_TARGETS ((1LL << 4) | (1LL << 5) | (1LL << 6) | (1LL << 12) | (1LL << 14))
