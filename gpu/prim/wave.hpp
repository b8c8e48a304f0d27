#pragma once

// Steps across the lanes of one wave. Contract of all of them: every live lane of the wave calls
// the same one together; loops around them end on a condition that is the same for the whole wave.
// kWave is the wave width, 32 or 64. width, a power of two up to kWave, cuts the wave into groups
// of neighbouring lanes that exchange among themselves only.
#include "gpu/rt/hip.hpp"

namespace biogpu::gpu {

template <int kWave>
__device__ __forceinline__ int wave_lane() {
  return static_cast<int>(threadIdx.x) % kWave;
}

// A number that is the same in all lanes: what follows from it needs no vector registers.
__device__ __forceinline__ std::uint32_t wave_same(std::uint32_t number) {
#if defined(BIOGPU_GPU_ROCM)
  return __builtin_amdgcn_readfirstlane(number);
#else
  return number;
#endif
}

// The same number, but what follows from it is computed where it is used: the compiler does not
// hold it in registers through a loop.
__device__ __forceinline__ int not_held(int number) {
#if defined(BIOGPU_GPU_CUDA)
  asm volatile("" : "+r"(number));
#endif
  return number;
}

// The value of lane `source` of the group.
template <int kWave, class T>
__device__ __forceinline__ T wave_shuffle(T value, int source, int width = kWave) {
#if defined(BIOGPU_GPU_CUDA)
  return __shfl_sync(0xffffffffu, value, source, width);
#else
  return __shfl(value, source, width);
#endif
}

// The value of the lane whose number in the wave is this one's xor mask; mask < width.
template <int kWave, class T>
__device__ __forceinline__ T wave_shuffle_xor(T value, int mask, int width = kWave) {
#if defined(BIOGPU_GPU_CUDA)
  return __shfl_xor_sync(0xffffffffu, value, mask, width);
#else
  return __shfl_xor(value, mask, width);
#endif
}

// The value of the lane `delta` below; lanes that have none in their group keep their own.
template <int kWave, class T>
__device__ __forceinline__ T wave_shuffle_up(T value, unsigned delta, int width = kWave) {
#if defined(BIOGPU_GPU_CUDA)
  return __shfl_up_sync(0xffffffffu, value, delta, width);
#else
  return __shfl_up(value, delta, width);
#endif
}

// The value of the lane `delta` above; lanes that have none in their group keep their own.
template <int kWave, class T>
__device__ __forceinline__ T wave_shuffle_down(T value, unsigned delta, int width = kWave) {
#if defined(BIOGPU_GPU_CUDA)
  return __shfl_down_sync(0xffffffffu, value, delta, width);
#else
  return __shfl_down(value, delta, width);
#endif
}

// Bit l is the vote of lane l.
template <int kWave>
__device__ __forceinline__ std::uint64_t wave_ballot(bool vote) {
#if defined(BIOGPU_GPU_CUDA)
  return __ballot_sync(0xffffffffu, vote);
#else
  return __ballot(vote);
#endif
}

// Memory written by a lane before is visible to the other lanes of the wave after.
template <int kWave>
__device__ __forceinline__ void wave_sync() {
#if defined(BIOGPU_GPU_CUDA)
  __syncwarp();
#elif defined(BIOGPU_GPU_ROCM)
  __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront");
  __builtin_amdgcn_wave_barrier();
#else
  ::hip_on_host::wave_barrier();
#endif
}

// Whether this is the lane of its wave that is chosen: one, and always the same. From Hopper on the
// compiler knows that there is one alone, and does not ask for each copy that the lane asks the
// copy engine for which lanes take part.
template <int kWave = 32>
__device__ __forceinline__ bool one_lane() {
#if defined(BIOGPU_GPU_CUDA) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  std::uint32_t chosen;
  asm volatile("{\n.reg .pred p;\nelect.sync _|p, 0xffffffff;\nselp.u32 %0, 1, 0, p;\n}\n"
               : "=r"(chosen));
  return chosen != 0;
#else
  wave_sync<kWave>();
  return wave_lane<kWave>() == 0;
#endif
}

// The greatest value over the wave, in every lane.
template <int kWave, class T>
__device__ __forceinline__ T wave_max(T value) {
  for (int mask = kWave / 2; mask > 0; mask /= 2) {
    const T other = wave_shuffle_xor<kWave>(value, mask);
    value = value > other ? value : other;
  }
  return value;
}

// The sum over the wave, in every lane.
template <int kWave, class T>
__device__ __forceinline__ T wave_sum(T value) {
  for (int mask = kWave / 2; mask > 0; mask /= 2) value += wave_shuffle_xor<kWave>(value, mask);
  return value;
}

}  // namespace biogpu::gpu
