#pragma once

#include <array>
#include <vector>

#include "lib/models/borzoi/borzoi.hpp"
#include "lib/tensor/ragged.hpp"
#include "lib/tensor/tensor.hpp"

namespace biogpu::models {

namespace borzoi {
// What the transformer reads, and the U-Net of each convolution, the most rows first.
inline constexpr char kKeptPositions[] = "kept.positions";
inline constexpr std::array kKeptSkips{"kept.skip.0", "kept.skip.1"};
}  // namespace borzoi

// The inputs of a pass on the device.
struct Borzoi::Batch {
  tensor::Tensor letters;              // u8, of the windows or of parts of them
  std::vector<tensor::Ragged> levels;  // the same in bases, and after each pool
  std::vector<tensor::Ragged> whole;   // the windows at the U-Net's levels, and in the transformer
  tensor::Tensor bins;                 // i32, rows of the U-Net's result that are bins
  tensor::Tensor all_positions;        // i32, every row of the transformer; or empty
  TrackInputs end;

  const tensor::Ragged& positions() const { return whole.back(); }
};

// What the U-Net reads of the tower: operand, [rows, channels], the most rows first.
struct Borzoi::Skips {
  std::vector<Lease> activated;
};

}  // namespace biogpu::models
