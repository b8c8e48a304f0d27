#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace biogpu::models::enformer {

// The third class of positional features: a gamma density, divided by a maximum.
enum class GammaForm {
  tf_table,   // numbers of DeepMind's original, stored in the folder
  positions,  // the maximum over positions, as the original computes it
  features    // the maximum over features, as enformer-pytorch computes it without the table
};
// "tf-table", "positions", "features".
const char* name_of(GammaForm form);
// Throws Error{usage} for another name.
GammaForm parse_gamma_form(std::string_view name);

inline constexpr std::int64_t kFeatureClasses = 3;
// Of the stored table: positions -1535 to 1535, 32 features.
inline constexpr std::int64_t kTablePositions = 1536;
inline constexpr std::int64_t kTableFeatures = 32;

// Features of relative positions r = -(L - 1) to L - 1 as rows, [2L - 1, 6F] in double precision:
// exp, central mask and gamma of |r|, F each, then the same times the sign of r.
//   exp_k   = 2^(-|r| / h_k), h_k = 2^linspace(3, log2 L, F)
//   mask_k  = 1 if 2^(k+1) - 1 > |r|, else 0
//   gamma_k = the gamma density of mean linspace(L/F, L, F) and standard deviation L/(2F), plus
//   1e-8,
//             over a maximum
// (Avsec et al. 2021, doi 10.1038/s41592-021-01252-x; enformer-pytorch, get_positional_embed)
struct PositionalFeatures {
  std::int64_t n_positions = 0;  // L
  std::int64_t n_features = 0;   // 6F
  GammaForm gamma = GammaForm::positions;
  const float* table = nullptr;  // [2L - 1, F], read for tf_table

  std::vector<double> compute() const;
};

}  // namespace biogpu::models::enformer
