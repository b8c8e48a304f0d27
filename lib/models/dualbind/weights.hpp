#pragma once

#include <cstdint>
#include <string>

#include "lib/models/dualbind/config.hpp"
#include "lib/tensor/context.hpp"
#include "lib/tensor/weights/weight_table.hpp"

namespace biogpu::models::dualbind {

// Weights of one checkpoint on a device. The reference's linear map of [coordinates, part of the
// chemistry, type of the atom] is split: what does not read coordinates is folded into the map of
// ligands and into a table of all kinds of atoms of pockets.
struct Weights {
  tensor::Linear atom_in, bond_in;  // of the features of atoms and bonds: the messages' start
  tensor::Linear message, atom_out;
  tensor::Linear ligand;  // to the features of tokens
  tensor::Tensor pocket;  // f32 [kLetters * kSlots, d]: the same of kinds of atoms
  tensor::Tensor frame;   // f32 [3, d], of coordinates
  tensor::Linear qkv, attention_out, ffn_up, ffn_down;
  tensor::Norm attention_norm, ffn_norm;
  tensor::Linear ligand_head[2], pocket_head;
};

// Errors are noted in the table.
Weights read_weights(const Config& config, tensor::WeightTable& table, tensor::Context& context);

}  // namespace biogpu::models::dualbind
