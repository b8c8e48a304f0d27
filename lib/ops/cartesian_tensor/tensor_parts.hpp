#pragma once

namespace biogpu::ops {

// A tensor X of 3 x 3 numbers is kept as 9 that are of one part each, in the order of
//   0      the scalar part: I = trace(X) / 3
//   1..3   the antisymmetric part (X - X^T) / 2: A01, A02, A12
//   4..8   the symmetric part without trace (X + X^T) / 2 - I: S00, S01, S02, S11, S12
// Arrays are [9, T, F]: one number of all atoms after the other, F channels each, so that the
// rows of one part are together and a linear map of a part is a plain product of matrices.
inline constexpr int kTensorNumbers = 9;
inline constexpr int kTensorParts = 3;

// The part, 0 to 2, of one of n_numbers: 9, or 1 for what has one part alone.
constexpr int part_of(int number, int n_numbers) {
  if (n_numbers == 1 || number == 0) return 0;
  return number < 4 ? 1 : 2;
}

}  // namespace biogpu::ops
