#include "lib/models/tensornet/system_rules.hpp"

namespace biogpu::models::tensornet {

std::vector<AtomSystem> with_box(std::span<const AtomSystem> systems,
                                 const std::optional<Box>& box) {
  if (!box) return {};
  std::vector<AtomSystem> boxed(systems.begin(), systems.end());
  for (AtomSystem& system : boxed)
    if (!system.box) {
      system.box = box;
      system.pairs = nullptr;
    }
  return boxed;
}

void take_mean(std::size_t n_atoms, double offset, PotentialResult& result) {
  const double scale = 1 / (static_cast<double>(n_atoms) + 1);
  result.energy = offset + scale * (result.energy - offset);
  for (double& x : result.forces) x *= scale;
  for (double& x : result.virial) x *= scale;
  for (double& x : result.atom_energies) x *= scale;
}

}  // namespace biogpu::models::tensornet
