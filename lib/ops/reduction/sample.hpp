#pragma once

#include <cstdint>

#include "lib/ops/declare.hpp"

namespace biogpu::ops {

// out[r] = a column of row r, drawn with the probabilities softmax(logits / temperature): the first
// at which the running sum of e^(z - max z), in double precision and in the order of the columns,
// passes u times the whole sum. u is uniform in [0, 1): Philox4x32-10 (Salmon et al. 2011) under
// the key `seed` of the counter {step, stream, 3, 0}, its first 53 bits. So a draw depends on its
// seed, stream, step and row alone, and on no device. NaN and -infinity are never drawn; 0 where
// nothing else is there.
struct Sample {
  Tensor logits;  // f32 [R, V], rows of any distance
  float temperature = 1;
  std::uint64_t seed = 0;
  Tensor streams;  // i32 [R], or empty: r
  Tensor steps;    // i32 [R], or empty: 0
  Tensor out;      // i32 [R]; may be the memory of streams or steps

  static constexpr std::uint32_t kPurpose = 3;  // 0 to 2 are ProteinMPNN's
};
BIOGPU_DECLARE_OP(sample, Sample);

}  // namespace biogpu::ops
