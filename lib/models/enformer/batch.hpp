#pragma once

#include <cstdint>
#include <vector>

#include "lib/models/enformer/enformer.hpp"
#include "lib/tensor/ragged.hpp"
#include "lib/tensor/tensor.hpp"

namespace biogpu::models {

namespace enformer {
inline constexpr char kKeptPositions[] = "kept.positions";  // what the transformer reads
}  // namespace enformer

// The inputs of a pass on the device.
struct Enformer::Batch {
  tensor::Tensor letters;              // u8, of the windows or of parts of them
  std::vector<tensor::Ragged> levels;  // the same in bases, and after each pool
  tensor::Ragged positions;            // the windows in the transformer
  tensor::Tensor bins;                 // i32, rows of the transformer that are bins
  tensor::Tensor all_positions;        // i32, every row of the transformer; or empty
  TrackInputs end;

  std::int64_t n_bins() const { return bins.shape[0]; }
};

}  // namespace biogpu::models
