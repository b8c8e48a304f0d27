#include <cmath>

#include "lib/models/dualbind/ops/pair_energy.hpp"

namespace biogpu::models::dualbind {

void pair_energy_ref(const PairEnergy& op) {
  const auto* const starts = op.starts.as<std::int32_t>();
  const auto* const ligands = op.ligand_starts.as<std::int32_t>();
  std::int64_t pocket_row = 0;
  for (std::int64_t c = 0; c < op.energy.shape[0]; ++c) {
    const std::int64_t n_ligand = ligands[c + 1] - ligands[c];
    const std::int64_t n_pocket = starts[c + 1] - starts[c] - n_ligand;
    double energy = 0;
    for (std::int64_t i = 0; i < n_ligand; ++i)
      for (std::int64_t j = 0; j < n_pocket; ++j) {
        double square = 0;
        for (int k = 0; k < 3; ++k)
          square += std::pow(static_cast<double>(op.positions.row<float>(starts[c] + i)[k]) -
                                 op.positions.row<float>(starts[c] + n_ligand + j)[k],
                             2);
        if (std::sqrt(square) >= op.cutoff) continue;
        for (std::int64_t k = 0; k < op.ligand.shape[1]; ++k)
          energy += static_cast<double>(op.ligand.row<float>(ligands[c] + i)[k]) *
                    op.pocket.row<float>(pocket_row + j)[k];
      }
    pocket_row += n_pocket;
    op.energy.as<double>()[c] = energy;
  }
}

}  // namespace biogpu::models::dualbind
