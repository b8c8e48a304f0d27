#pragma once

namespace biogpu::gpu {

// How often a long loop that reads shared memory is worth unrolling, so that registers need not be
// copied from one round to the next. clang loads what all rounds need ahead, which takes the
// registers of a second wave.
#if defined(BIOGPU_GPU_ROCM)
inline constexpr int kUnrolledRounds = 1;
#else
inline constexpr int kUnrolledRounds = 4;
#endif

}  // namespace biogpu::gpu
