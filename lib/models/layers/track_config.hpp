#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/models/base/dna_model.hpp"
#include "lib/models/base/model_config.hpp"

namespace biogpu::models {

// Positions of a window that predictions are for: those in its middle.
struct BinRange {
  std::int64_t first = 0;
  std::int64_t n = 0;
};

// What TargetLengthCrop of enformer-pytorch and borzoi-pytorch leaves of n_positions: nothing is
// cut for -1, and one more than asked for where an odd number is to go. key: of `length`, for
// messages.
BinRange crop_bins(const ModelConfig& file, const char* key, std::int64_t n_positions,
                   std::int64_t length);

// The key output_heads, or `otherwise` where it is not there.
std::vector<TrackHead> read_track_heads(const ModelConfig& file, std::vector<TrackHead> otherwise);

}  // namespace biogpu::models
