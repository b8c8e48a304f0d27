#include <algorithm>

#include "lib/models/dualbind/ops/pair_energy.hpp"
#include "lib/models/dualbind/ops/token_rows.hpp"
#include "lib/ops/cpu/cpu_context.hpp"

namespace biogpu::models::dualbind {
namespace {

double energy_of(const PairEnergy& op, std::int64_t complex, float* near_sum) {
  const TokenRows rows(op.starts.as<std::int32_t>(), op.ligand_starts.as<std::int32_t>(),
                       op.energy.shape[0], complex);
  const std::int64_t d = op.ligand.shape[1], n_ligands = op.ligand.shape[0];
  double energy = 0;
  for (std::int64_t j = rows.begin + rows.n_ligand; j < rows.end; ++j) {
    bool has_pairs = false;
    for (std::int64_t i = rows.begin; i < rows.begin + rows.n_ligand; ++i) {
      if (!is_near(op.positions.row<float>(i), op.positions.row<float>(j), op.cutoff)) continue;
      const float* const b = op.ligand.row<float>(rows.row(i));
      if (has_pairs)
        for (std::int64_t k = 0; k < d; ++k) near_sum[k] += b[k];
      else
        std::copy_n(b, d, near_sum);
      has_pairs = true;
    }
    if (!has_pairs) continue;
    const float* const t = op.pocket.row<float>(rows.row(j) - n_ligands);
    for (std::int64_t k = 0; k < d; ++k)
      energy += static_cast<double>(t[k]) * static_cast<double>(near_sum[k]);
  }
  return energy;
}

}  // namespace

void pair_energy_cpu(CpuContext& context, const PairEnergy& op) {
  context.for_each(op.energy.shape[0], [&](std::int64_t complex) {
    op.energy.as<double>()[complex] =
        energy_of(op, complex, context.scratch().reserve(op.ligand.shape[1]));
  });
}

}  // namespace biogpu::models::dualbind
