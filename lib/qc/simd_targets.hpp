#pragma once

// Which instruction sets the vector code of qc is compiled for; included before anything of
// Highway. The floor has byte look-ups, which scalar code lacks; targets that newer releases of
// Highway know besides are left out, for they cost build time and bring this code nothing.
#if defined(__x86_64__)
#define HWY_BASELINE_TARGETS HWY_SSE4
#endif
#define HWY_WANT_AVX3_DL
#ifdef BIOGPU_FEWER_TARGETS
#define HWY_DISABLED_TARGETS \
  ((1LL << 4) | (1LL << 5) | (1LL << 6) | (1LL << 7) | (1LL << 9) | (1LL << 12) | (1LL << 14))
#else
#define HWY_DISABLED_TARGETS ((1LL << 4) | (1LL << 5) | (1LL << 6) | (1LL << 12) | (1LL << 14))
#endif
