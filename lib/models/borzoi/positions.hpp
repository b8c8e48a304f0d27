#pragma once

#include <cstdint>
#include <vector>

namespace biogpu::models::borzoi {

// Features of relative positions r = -(n_positions - 1) to n_positions - 1 as rows,
// [2 n_positions - 1, n_features]: 1 for each of n_features / 2 widths that |r| is below, then the
// same times the sign of r. Width k = (M + 1)^(k / (n_features / 2)) - 1 for k from 1 on, M =
// n_trained positions, for shorter windows too.
// (Linder et al. 2025, doi 10.1038/s41588-024-02053-6; borzoi-pytorch, get_positional_embed)
std::vector<double> central_mask_features(std::int64_t n_positions, std::int64_t n_features,
                                          std::int64_t n_trained);

// The table of ops::Rotary, [n_positions, n_rotated]: angles position * base^(-2 i / n_rotated).
std::vector<float> rotary_table(std::int64_t n_positions, std::int64_t n_rotated, double base);

}  // namespace biogpu::models::borzoi
