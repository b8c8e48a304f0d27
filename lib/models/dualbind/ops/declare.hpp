#pragma once

#include "lib/ops/declare.hpp"

// What a header of an operation of DualBind begins with. A token is an atom of a complex: those of
// its ligand, then those of its pocket. C complexes, T tokens.
namespace biogpu::models::dualbind {

using ops::Context;
using ops::CpuContext;
using ops::DType;
using ops::Norm;
using ops::Tensor;

inline constexpr int kFrames = 8;  // choices of signs of three axes

// Of axis i in frame f: - - -, - - +, ..., + + +.
constexpr float frame_sign(int frame, int axis) { return (frame >> (2 - axis)) % 2 == 0 ? -1 : 1; }

}  // namespace biogpu::models::dualbind
