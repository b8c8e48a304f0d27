#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lib/models/alphagenome/weights.hpp"
#include "lib/models/base/pass.hpp"
#include "lib/tensor/ragged.hpp"

namespace biogpu::models::alphagenome {

// Windows, or parts of them, of one length on the device, as the U-Net reads them. Rows of all lie
// one after the other.
struct UnetRows {
  tensor::Tensor letters;              // u8 [windows * bases], codes of conv1d_letters.hpp
  std::vector<tensor::Ragged> levels;  // level l has n_bases / 2^l rows a window

  const tensor::Ragged& bases() const { return levels.front(); }
  const tensor::Ragged& coarse() const { return levels.back(); }
};

// Windows as the tower reads them.
struct Batch {
  std::int64_t n_windows = 0;
  std::int64_t n_bases = 0;      // of a window; n_positions times the coarse bin
  std::int64_t n_positions = 0;  // coarse rows of a window; n_pairs times kPairRows
  std::int64_t n_pairs = 0;      // positions of pairs of a window
  tensor::Ragged coarse;         // the coarse rows of each window
  tensor::Ragged pair_rows;      // the coarse rows of each position of pairs, as segments
  tensor::Tensor features;       // f32 [2 n_pairs, position features]: of distances -n to n - 1
};

// Uploads letters, windows or parts of n_bases one after the other. n_bases: a multiple of the
// coarse bin.
UnetRows make_unet_rows(Pass& pass, const Config& config, std::span<const std::uint8_t> letters,
                        std::int64_t n_bases);

// Uploads what the tower reads. Throws Error{failed} where the length of a window is not a multiple
// of the bases of a position of pairs, or is too long.
Batch make_batch(Pass& pass, const Config& config, std::int64_t n_windows, std::int64_t n_bases);

// [row][feature] of relative positions -n to n - 1 of n_features / 2 widths: 1 where the distance
// is below the width, then the same with the distance's sign.
std::vector<float> position_features(std::int64_t n, std::int64_t n_features);

}  // namespace biogpu::models::alphagenome
