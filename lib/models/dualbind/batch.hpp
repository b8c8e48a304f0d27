#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lib/models/base/packed_inputs.hpp"
#include "lib/models/base/pass.hpp"
#include "lib/models/dualbind/complex.hpp"

namespace biogpu::models::dualbind {

// Inputs of a pass on the device: A atoms and B directed bonds of ligands, T tokens, C complexes.
struct DeviceBatch {
  std::int64_t n_atoms = 0, n_bonds = 0, n_tokens = 0, n_ligand_tokens = 0, n_complexes = 0;
  tensor::Tensor atoms;          // f32 [A, 133]
  tensor::Tensor bonds;          // f32 [B, 14]
  tensor::Tensor bond_atoms;     // i32 [B]: where a bond begins
  tensor::Tensor reverse;        // i32 [B]: the bond in the other direction
  tensor::Tensor in_starts;      // i32 [A + 1]
  tensor::Tensor in_bonds;       // i32 [B]: the bonds into each atom
  tensor::Tensor sources;        // i32 [T]: an atom, or A + a kind of atom of pockets
  tensor::Tensor positions;      // f32 [T, 3]
  tensor::Tensor complexes;      // i32 [T]
  tensor::Tensor starts;         // i32 [C + 1]
  tensor::Tensor ligand_starts;  // i32 [C + 1]: of tokens of ligands
  tensor::Ragged frames;         // 8 segments a complex
};

// Complexes one after the other, without padding.
class HostBatch {
 public:
  explicit HostBatch(std::span<const Complex> complexes);
  // Makes the inputs of a pass; the batch may go after the call.
  DeviceBatch upload(Pass& pass);

 private:
  void add_ligand(const Complex& complex);
  void add_tokens(const Complex& complex);

  std::vector<float> atoms_, bonds_, positions_;
  std::vector<std::int32_t> bond_atoms_, reverse_, bond_ends_, sources_, complexes_;
  std::vector<std::int32_t> starts_{0}, ligand_starts_{0}, frame_starts_{0};
  std::int32_t n_atoms_ = 0;
};

}  // namespace biogpu::models::dualbind
