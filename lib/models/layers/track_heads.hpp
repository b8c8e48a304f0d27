#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/models/dna_model.hpp"
#include "lib/models/pass.hpp"
#include "lib/tensor/context.hpp"
#include "lib/tensor/weights/weight_table.hpp"

namespace biogpu::models {

// Where the numbers of a head are: name.weight [n_tracks, n_in] or [n_tracks, n_in, 1], name.bias.
struct StoredHead {
  std::string name;
  std::int64_t n_tracks = 0;
  std::int64_t n_in = 0;
  bool is_convolution = false;  // the weight has the third axis
};

// The rows of the tracks that were chosen, in their order. Empty where maps are only checked.
tensor::Linear take_head(tensor::WeightTable& table, tensor::Context& context,
                         const StoredHead& stored, const std::vector<std::int64_t>& tracks);

// The outputs tracks.NAME [bins, tracks] of a pass, which must be taken: softplus of each head's
// product. embedding: operand [bins, n_in].
void run_heads(Pass& pass, const std::vector<HeadChoice>& choices,
               const std::vector<tensor::Linear>& heads, const tensor::Tensor& embedding);

}  // namespace biogpu::models
