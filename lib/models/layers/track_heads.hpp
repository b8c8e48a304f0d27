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

// The inputs of the end on the device.
struct TrackInputs {
  tensor::Tensor all_bins;              // i32, counting; or empty
  tensor::Tensor ranges;                // i32 [sums, 2], rows of bins; or empty
  tensor::Tensor factors;               // f64 [sums]
  std::vector<tensor::Tensor> columns;  // of each head, i32 [tracks of the output]; or empty
};

// Uploads what a request needs, where each of n_windows has n_bins. Of sums only a capacity is part
// of the pass's key, so that a device repeats a pass for other sums. Throws std::out_of_range for
// bins that are not of a window.
TrackInputs upload_track_inputs(Pass& pass, const TrackEnd& end, const DnaModel::Request& request,
                                std::int64_t n_windows, std::int64_t n_bins);
// Takes the outputs embedding, tracks.NAME and sums.NAME that a request asks for. n_rows: bins of
// all windows.
void take_track_outputs(Pass& pass, const TrackEnd& end, const DnaModel::Request& request,
                        std::int64_t n_rows);
// Fills them. bins: operand [n_rows, n_in] of `last`.
void run_track_end(Pass& pass, const TrackEnd& end, const DnaModel::Request& request,
                   const tensor::Tensor& bins, const TrackInputs& inputs);

}  // namespace biogpu::models
