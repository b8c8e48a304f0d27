#include "lib/models/layers/track_heads.hpp"

#include "lib/ops/gather/gather_rows.hpp"
#include "lib/ops/gemm/gemm.hpp"

namespace biogpu::models {

using tensor::DType;
using tensor::HostTensor;
using tensor::Tensor;
using tensor::WeightTable;

tensor::Linear take_head(WeightTable& table, tensor::Context& context, const StoredHead& stored,
                         const std::vector<std::int64_t>& tracks) {
  const std::int64_t n_tracks = stored.n_tracks, n_in = stored.n_in;
  if (tracks.empty() && !stored.is_convolution)
    return table.take_linear(context, stored.name, n_tracks, n_in);
  const HostTensor weight = stored.is_convolution
                                ? table.take(stored.name + ".weight", {n_tracks, n_in, 1})
                                : table.take(stored.name + ".weight", {n_tracks, n_in});
  const HostTensor bias = table.take(stored.name + ".bias", {n_tracks});
  if (table.maps() == WeightTable::Maps::only_checked) return {};
  if (tracks.empty())
    return context.upload_linear(Tensor(weight.view.data, DType::f32, {n_tracks, n_in}), bias.view);
  std::vector<float> rows, biases;
  for (const std::int64_t track : tracks) {
    const float* const row = weight.view.row<float>(track);
    rows.insert(rows.end(), row, row + n_in);
    biases.push_back(bias.values[static_cast<std::size_t>(track)]);
  }
  const auto n = static_cast<std::int64_t>(tracks.size());
  return context.upload_linear(Tensor(rows.data(), DType::f32, {n, n_in}),
                               Tensor(biases.data(), DType::f32, {n}));
}

void take_track_outputs(Pass& pass, const TrackEnd& end, const DnaModel::Request& request,
                        std::int64_t n_bins) {
  if (request.tracks)
    for (std::size_t i = 0; i < end.choices->size(); ++i)
      pass.output("tracks." + (*end.choices)[i].name, {n_bins, (*end.heads)[i].n_out});
  if (request.embedding) pass.output("embedding", {n_bins, end.last->n_out});
}

void run_track_end(Pass& pass, const TrackEnd& end, const DnaModel::Request& request,
                   const Tensor& bins, const Tensor& all_bins) {
  tensor::Context& context = pass.context();
  tensor::Arena& arena = pass.arena();
  const auto scope = arena.scope();
  const std::int64_t n_bins = bins.shape[0], n_embedding = end.last->n_out;
  const Tensor wanted = pass.find("embedding");  // f32
  Tensor embedding = wanted;
  if (wanted.empty()) embedding = arena.take(context.compute_dtype(), {n_bins, n_embedding});
  ops::gemm(context, {bins, end.last, end.activation, {}, embedding});
  if (!request.tracks) return;
  if (embedding.dtype != context.compute_dtype()) {
    embedding = arena.take(context.compute_dtype(), {n_bins, n_embedding});
    ops::gather_rows(context, {wanted, all_bins, embedding});
  }
  for (std::size_t i = 0; i < end.choices->size(); ++i)
    ops::gemm(context, {embedding,
                        &(*end.heads)[i],
                        ops::Activation::softplus,
                        {},
                        pass.find("tracks." + (*end.choices)[i].name)});
}

}  // namespace biogpu::models
