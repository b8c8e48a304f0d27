#include "lib/models/dualbind/batch.hpp"

#include "lib/models/dualbind/ops/declare.hpp"

namespace biogpu::models::dualbind {

using molecule::MoleculeGraph;
using tensor::DType;

HostBatch::HostBatch(std::span<const Complex> complexes) {
  for (const Complex& complex : complexes) {
    add_tokens(complex);  // of atoms by the number of those before it
    add_ligand(complex);
  }
  // Rows of kinds of atoms of pockets come behind all atoms.
  for (std::int32_t& source : sources_)
    if (source < 0) source = n_atoms_ - 1 - source;
}

// A bond is two rows, one a direction.
void HostBatch::add_ligand(const Complex& complex) {
  const MoleculeGraph& ligand = complex.ligand;
  atoms_.insert(atoms_.end(), ligand.atom_features.begin(), ligand.atom_features.end());
  for (std::size_t bond = 0; bond < ligand.n_bonds(); ++bond) {
    const auto features = ligand.bond_features.begin() +
                          static_cast<std::ptrdiff_t>(bond * MoleculeGraph::kBondFeatures);
    for (std::size_t direction = 0; direction < 2; ++direction) {
      const auto row = static_cast<std::int32_t>(bond_atoms_.size());
      bonds_.insert(bonds_.end(), features, features + MoleculeGraph::kBondFeatures);
      bond_atoms_.push_back(n_atoms_ + ligand.bond_atoms[2 * bond + direction]);
      bond_ends_.push_back(n_atoms_ + ligand.bond_atoms[2 * bond + 1 - direction]);
      reverse_.push_back(direction == 0 ? row + 1 : row - 1);
    }
  }
  n_atoms_ += static_cast<std::int32_t>(ligand.n_atoms());
}

void HostBatch::add_tokens(const Complex& complex) {
  const auto number = static_cast<std::int32_t>(starts_.size() - 1);
  for (const std::int32_t atom : complex.ligand_tokens) {
    sources_.push_back(n_atoms_ + atom);
    for (std::size_t i = 0; i < 3; ++i)
      positions_.push_back(
          static_cast<float>(complex.ligand.positions[3 * static_cast<std::size_t>(atom) + i]));
  }
  for (const std::int32_t kind : complex.pocket.kinds) sources_.push_back(-1 - kind);
  positions_.insert(positions_.end(), complex.pocket.positions.begin(),
                    complex.pocket.positions.end());
  const auto n_tokens = static_cast<std::int32_t>(complex.n_tokens());
  complexes_.insert(complexes_.end(), complex.n_tokens(), number);
  starts_.push_back(starts_.back() + n_tokens);
  ligand_starts_.push_back(ligand_starts_.back() +
                           static_cast<std::int32_t>(complex.ligand_tokens.size()));
  for (int frame = 0; frame < kFrames; ++frame)
    frame_starts_.push_back(frame_starts_.back() + n_tokens);
}

DeviceBatch HostBatch::upload(Pass& pass) {
  DeviceBatch batch;
  batch.n_atoms = n_atoms_;
  batch.n_bonds = std::ssize(bond_atoms_);
  batch.n_tokens = std::ssize(sources_);
  batch.n_ligand_tokens = ligand_starts_.back();
  batch.n_complexes = std::ssize(starts_) - 1;
  // Bonds by the atoms that they come into, in their own order.
  std::vector<std::int32_t> in_starts(static_cast<std::size_t>(n_atoms_) + 1), in_bonds(bond_ends_);
  for (const std::int32_t atom : bond_ends_) ++in_starts[static_cast<std::size_t>(atom) + 1];
  for (std::size_t a = 1; a < in_starts.size(); ++a) in_starts[a] += in_starts[a - 1];
  std::vector<std::int32_t> next(in_starts);
  for (std::size_t bond = 0; bond < bond_ends_.size(); ++bond) {
    std::int32_t& place = next[static_cast<std::size_t>(bond_ends_[bond])];
    in_bonds[static_cast<std::size_t>(place++)] = static_cast<std::int32_t>(bond);
  }
  PackedInputs inputs;
  const std::size_t atoms = inputs.add(atoms_), bonds = inputs.add(bonds_),
                    bond_atoms = inputs.add(bond_atoms_), reverse = inputs.add(reverse_),
                    starts_in = inputs.add(in_starts), bonds_in = inputs.add(in_bonds),
                    sources = inputs.add(sources_), positions = inputs.add(positions_),
                    complexes = inputs.add(complexes_), starts = inputs.add(starts_),
                    ligand_starts = inputs.add(ligand_starts_);
  inputs.upload(pass);
  batch.atoms = inputs.at(atoms, DType::f32, {batch.n_atoms, MoleculeGraph::kAtomFeatures});
  batch.bonds = inputs.at(bonds, DType::f32, {batch.n_bonds, MoleculeGraph::kBondFeatures});
  batch.bond_atoms = inputs.at(bond_atoms, DType::i32, {batch.n_bonds});
  batch.reverse = inputs.at(reverse, DType::i32, {batch.n_bonds});
  batch.in_starts = inputs.at(starts_in, DType::i32, {batch.n_atoms + 1});
  batch.in_bonds = inputs.at(bonds_in, DType::i32, {batch.n_bonds});
  batch.sources = inputs.at(sources, DType::i32, {batch.n_tokens});
  batch.positions = inputs.at(positions, DType::f32, {batch.n_tokens, 3});
  batch.complexes = inputs.at(complexes, DType::i32, {batch.n_tokens});
  batch.starts = inputs.at(starts, DType::i32, {batch.n_complexes + 1});
  batch.ligand_starts = inputs.at(ligand_starts, DType::i32, {batch.n_complexes + 1});
  batch.frames = pass.segments(frame_starts_);
  // Which rows are of ligands decides shapes; lengths of segments decide the work of attention.
  pass.depends_on(static_cast<std::uint64_t>(batch.n_ligand_tokens));
  for (const std::int32_t start : starts_) pass.depends_on(static_cast<std::uint64_t>(start));
  return batch;
}

}  // namespace biogpu::models::dualbind
