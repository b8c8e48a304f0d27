#include "lib/models/layers/track_heads.hpp"

#include "lib/ops/gemm.hpp"

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

void run_heads(Pass& pass, const std::vector<HeadChoice>& choices,
               const std::vector<tensor::Linear>& heads, const Tensor& embedding) {
  for (std::size_t i = 0; i < choices.size(); ++i)
    ops::gemm(pass.context(), {embedding,
                               &heads[i],
                               ops::Activation::softplus,
                               {},
                               pass.find("tracks." + choices[i].name)});
}

}  // namespace biogpu::models
