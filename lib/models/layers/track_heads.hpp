#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/models/base/dna_model.hpp"
#include "lib/models/base/pass.hpp"
#include "lib/ops/activation.hpp"
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

// The end of a model: a product and an activation, the embedding of bins, and of it each head's
// product with softplus.
struct TrackEnd {
  const tensor::Linear* last = nullptr;
  ops::Activation activation = ops::Activation::none;
  const std::vector<HeadChoice>* choices = nullptr;
  const std::vector<tensor::Linear>* heads = nullptr;
};

// Takes the outputs embedding and tracks.NAME that a request asks for.
void take_track_outputs(Pass& pass, const TrackEnd& end, const DnaModel::Request& request,
                        std::int64_t n_bins);
// Fills them. bins: operand [bins, n_in] of `last`. all_bins: i32, counting, read where both the
// embedding and tracks are asked for.
void run_track_end(Pass& pass, const TrackEnd& end, const DnaModel::Request& request,
                   const tensor::Tensor& bins, const tensor::Tensor& all_bins);

}  // namespace biogpu::models
