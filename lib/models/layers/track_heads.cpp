#include "lib/models/layers/track_heads.hpp"

#include <bit>
#include <stdexcept>

#include "lib/models/layers/window_rows.hpp"
#include "lib/ops/gather/gather_rows.hpp"
#include "lib/ops/gemm/gemm.hpp"
#include "lib/ops/reduction/range_sum.hpp"

namespace biogpu::models {

using tensor::DType;
using tensor::HostTensor;
using tensor::Tensor;
using tensor::WeightTable;

namespace {

// The number of sums rounded up to a power of two: a device captures one graph for each capacity.
// The rows behind the last sum have no bins.
std::int64_t sums_capacity(const DnaModel::Request& request) {
  return static_cast<std::int64_t>(std::bit_ceil(request.sums.size()));
}

// As it is in the file, or of the tracks alone.
tensor::Linear upload_head(WeightTable& table, tensor::Context& context, const StoredHead& stored,
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

}  // namespace

tensor::Linear take_head(WeightTable& table, tensor::Context& context, const StoredHead& stored,
                         const std::vector<std::int64_t>& tracks) {
  tensor::Linear head = upload_head(table, context, stored, tracks);
  head.sum_in_parts = true;
  return head;
}

TrackInputs upload_track_inputs(Pass& pass, const TrackEnd& end, const DnaModel::Request& request,
                                std::int64_t n_windows, std::int64_t n_bins) {
  TrackInputs inputs;
  if (request.embedding) inputs.all_bins = pass.upload(counting(n_windows * n_bins));
  if (request.sums.empty()) return inputs;
  const std::int64_t n = sums_capacity(request);
  std::vector<std::int32_t> ranges(static_cast<std::size_t>(2 * n));
  std::vector<double> factors(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < request.sums.size(); ++i) {
    const BinSum& sum = request.sums[i];
    const auto window = static_cast<std::int64_t>(sum.window);
    if (window >= n_windows || sum.begin < 0 || sum.end < sum.begin || sum.end > n_bins)
      throw std::out_of_range("a sum over bins that are not of a window");
    ranges[2 * i] = static_cast<std::int32_t>(window * n_bins + sum.begin);
    ranges[2 * i + 1] = static_cast<std::int32_t>(window * n_bins + sum.end);
    factors[i] = sum.factor;
  }
  inputs.ranges = pass.upload(DType::i32, {n, 2}, ranges.data());
  inputs.factors = pass.upload(DType::f64, {n}, factors.data());
  for (const HeadChoice& choice : *end.choices) {
    const std::vector<std::int32_t> columns(choice.other_strand.begin(), choice.other_strand.end());
    const bool exchanged = request.other_strand && !columns.empty();
    inputs.columns.push_back(exchanged ? pass.upload(columns) : Tensor());
    pass.depends_on(exchanged);
  }
  return inputs;
}

void take_track_outputs(Pass& pass, const TrackEnd& end, const DnaModel::Request& request,
                        std::int64_t n_rows) {
  for (std::size_t i = 0; i < end.choices->size(); ++i) {
    const HeadChoice& choice = (*end.choices)[i];
    const std::int64_t width = (*end.heads)[i].n_out;
    if (request.tracks) pass.output("tracks." + choice.name, {n_rows, width});
    if (!request.sums.empty())
      pass.output("sums." + choice.name,
                  {sums_capacity(request),
                   choice.other_strand.empty() ? width : std::ssize(choice.other_strand)},
                  DType::f64);
  }
  if (request.embedding) pass.output("embedding", {n_rows, end.last->n_out});
}

void run_track_end(Pass& pass, const TrackEnd& end, const DnaModel::Request& request,
                   const Tensor& bins, const TrackInputs& inputs) {
  tensor::Context& context = pass.context();
  tensor::Arena& arena = pass.arena();
  const auto scope = arena.scope();
  const std::int64_t n_rows = bins.shape[0], n_embedding = end.last->n_out;
  const Tensor wanted = pass.find("embedding");  // f32
  Tensor embedding = wanted;
  if (wanted.empty()) embedding = arena.take(context.compute_dtype(), {n_rows, n_embedding});
  ops::gemm(context, {bins, end.last, end.activation, {}, embedding});
  if (!request.tracks && request.sums.empty()) return;
  if (embedding.dtype != context.compute_dtype()) {
    embedding = arena.take(context.compute_dtype(), {n_rows, n_embedding});
    ops::gather_rows(context, {wanted, inputs.all_bins, embedding});
  }
  for (std::size_t i = 0; i < end.choices->size(); ++i) {
    const std::string& name = (*end.choices)[i].name;
    const tensor::Linear& head = (*end.heads)[i];
    const auto of_head = arena.scope();
    Tensor tracks = pass.find("tracks." + name);
    if (tracks.empty()) tracks = arena.take(DType::f32, {n_rows, head.n_out});
    ops::gemm(context, {embedding, &head, ops::Activation::softplus, {}, tracks});
    if (!request.sums.empty())
      ops::range_sum(context, {tracks, inputs.ranges, inputs.factors, inputs.columns[i],
                               pass.find("sums." + name)});
  }
}

}  // namespace biogpu::models
