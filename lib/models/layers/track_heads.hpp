#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
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

// A loaded head of bins: a product, the activation of its TrackHead, and what follows it.
struct HeadLayer {
  tensor::Linear linear;  // n_out: the loaded tracks
  // Changes tracks in place: f32 [rows, tracks]. Queues operations, or is empty.
  std::function<void(tensor::Context& context, const tensor::Tensor& tracks)> post_process = {};
  // Queues all of it instead, where tracks are not columns of one product. embedding: operand.
  std::function<void(Pass& pass, const tensor::Tensor& embedding, const tensor::Tensor& tracks)>
      compute = {};
};

// The end of a model at one resolution: a product and an activation, the embedding of bins, and of
// it the tracks of heads with these bins. A model of several resolutions has one for each.
struct TrackEnd {
  const DnaModel& model;
  const Embedding& embedding;
  const tensor::Linear& last;
  ops::Activation activation = ops::Activation::none;
  const std::vector<HeadLayer>& layers;  // of each of the model's loaded heads
  // For sums and rows alone: bins of a part of a window, where a pass has parts, and their number:
  // first one of each window, which has its rows, then others, by which sums are numbered; 0: no
  // parts.
  std::int64_t n_part_bins = 0, n_parts = 0;
  std::int64_t n_bins() const { return n_part_bins > 0 ? n_part_bins : embedding.bins.n_bins; }
  // Whether a loaded head is of this end.
  bool has(std::size_t head) const {
    const TrackHead& loaded = model.head(model.heads()[head]);
    return loaded.row_kind.empty() && loaded.bins.covers_the_same(embedding.bins);
  }
};

// The inputs of the end on the device.
struct TrackInputs {
  // One for each loaded head; empty where there are no sums, and for heads of other ends.
  struct Sums {
    tensor::Tensor ranges;   // i32 [sums, 2], rows of bins
    tensor::Tensor factors;  // f64 [sums]
    tensor::Tensor columns;  // i32 [tracks of the output]; or empty
  };
  tensor::Tensor all_bins;  // i32, counting; or empty
  std::vector<Sums> sums;
  std::vector<tensor::Tensor> rows;  // i32, of bins, of each loaded head; or empty
};

// Rows of rows.NAME for a window: few sizes, so that a device repeats passes. Throws
// std::invalid_argument where rows are not of each window.
std::int64_t rows_capacity(std::span<const BinRows> rows, std::int64_t n_windows);
// The next multiple of an eighth of the next power of two.
std::int64_t rounded_size(std::int64_t n);

// Uploads what a request needs. Of sums only a capacity is part of the pass's key, so that a device
// repeats a pass for other sums. Throws std::out_of_range for bins that are not of a window.
TrackInputs upload_track_inputs(Pass& pass, const TrackEnd& end, const DnaModel::Request& request,
                                std::int64_t n_windows);
// Takes the outputs of the embedding, tracks.NAME, sums.NAME and rows.NAME that a request asks for.
void take_track_outputs(Pass& pass, const TrackEnd& end, const DnaModel::Request& request,
                        std::int64_t n_windows);
// Fills them. bins: operand [bins of all windows, n_in] of `last`.
void run_track_end(Pass& pass, const TrackEnd& end, const DnaModel::Request& request,
                   const tensor::Tensor& bins, const TrackInputs& inputs);
// Fills tracks, sums and rows alone, of an embedding that was made otherwise: operand [bins of all
// windows, its width].
void run_heads(Pass& pass, const TrackEnd& end, const DnaModel::Request& request,
               const tensor::Tensor& embedding, const TrackInputs& inputs);

}  // namespace biogpu::models
