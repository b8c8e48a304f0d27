#pragma once

#include "tests/ops/op_bed.hpp"

// What tests of operations that normalise share.
namespace biogpu::test {

// Centred, scaled, weighted, and moved by the bias: four roundings, none of a larger number.
inline void check_targets(Bed& bed, const Pair& sum, const Pair& out, const Pair& operand) {
  if (bed.is_cpu()) {
    for (const Pair* const pair : {&sum, &out, &operand}) CHECK(bed.roundings(*pair) < 4);
    return;
  }
  CHECK(bed.difference(sum) < 1e-6);
  CHECK(bed.difference(out) < 1e-5);
  CHECK(bed.difference(operand) < bed.operand_bound());
}

// One of each kernel of the GPU, and widths that fill no vector of the CPU.
inline std::int64_t width_of_norm(const Bed& bed) {
  return bed.is_cpu() ? GENERATE(16, 31, 320) : GENERATE(64, 1000, 1032, 2560, 4100);
}

}  // namespace biogpu::test
