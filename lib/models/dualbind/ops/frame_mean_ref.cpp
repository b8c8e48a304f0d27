#include <cmath>
#include <vector>

#include "lib/models/dualbind/ops/frame_mean.hpp"

namespace biogpu::models::dualbind {

void frame_mean_ref(const FrameMean& op) {
  const auto* const starts = op.starts.as<std::int32_t>();
  const auto* const ligands = op.ligand_starts.as<std::int32_t>();
  const std::int64_t n_complexes = op.starts.shape[0] - 1, d = op.out.shape[1];
  std::int64_t ligand_row = 0, pocket_row = ligands[n_complexes];
  for (std::int64_t c = 0; c < n_complexes; ++c) {
    const std::int64_t n = starts[c + 1] - starts[c], n_ligand = ligands[c + 1] - ligands[c];
    for (std::int64_t t = 0; t < n; ++t) {
      std::vector<double> sums(static_cast<std::size_t>(d));
      for (int frame = 0; frame < kFrames; ++frame) {
        const float* const x = op.x.row<float>(kFrames * starts[c] + frame * n + t);
        double mean = 0, variance = 0;
        for (std::int64_t k = 0; k < d; ++k) mean += x[k] / static_cast<double>(d);
        for (std::int64_t k = 0; k < d; ++k)
          variance += (x[k] - mean) * (x[k] - mean) / static_cast<double>(d);
        for (std::int64_t k = 0; k < d; ++k)
          sums[static_cast<std::size_t>(k)] +=
              (x[k] - mean) / std::sqrt(variance + op.norm.eps) * op.norm.weight.as<float>()[k] +
              op.norm.bias.as<float>()[k];
      }
      float* const out = op.out.row<float>(t < n_ligand ? ligand_row++ : pocket_row++);
      for (std::int64_t k = 0; k < d; ++k)
        out[k] = static_cast<float>(sums[static_cast<std::size_t>(k)] / kFrames);
    }
  }
}

}  // namespace biogpu::models::dualbind
