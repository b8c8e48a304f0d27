#include "lib/models/layers/track_heads.hpp"

#include <algorithm>
#include <bit>
#include <span>
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
std::int64_t sums_capacity(std::span<const BinSum> sums) {
  return static_cast<std::int64_t>(std::bit_ceil(sums.size()));
}

TrackInputs::Sums upload_sums(Pass& pass, std::span<const BinSum> sums, std::int64_t n_windows,
                              std::int64_t n_bins) {
  const std::int64_t n = sums_capacity(sums);
  std::vector<std::int32_t> ranges(static_cast<std::size_t>(2 * n));
  std::vector<double> factors(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const BinSum& sum = sums[i];
    const auto window = static_cast<std::int64_t>(sum.window);
    if (window >= n_windows || sum.begin < 0 || sum.end < sum.begin || sum.end > n_bins)
      throw std::out_of_range("a sum over bins that are not of a window");
    ranges[2 * i] = static_cast<std::int32_t>(window * n_bins + sum.begin);
    ranges[2 * i + 1] = static_cast<std::int32_t>(window * n_bins + sum.end);
    factors[i] = sum.factor;
  }
  return {pass.upload(DType::i32, {n, 2}, ranges.data()),
          pass.upload(DType::f64, {n}, factors.data()),
          {}};
}

// Rows behind the last of a window repeat its first bin.
Tensor upload_rows(Pass& pass, std::span<const BinRows> rows, std::int64_t n_windows,
                   std::int64_t n_bins) {
  const std::int64_t n = rows_capacity(rows, n_windows);
  std::vector<std::int32_t> numbers;
  for (std::int64_t w = 0; w < n_windows; ++w) {
    const BinRows& of_window = rows[static_cast<std::size_t>(w)];
    if (of_window.begin < 0 || of_window.end < of_window.begin || of_window.end > n_bins)
      throw std::out_of_range("rows that are not of a window");
    for (std::int64_t i = 0; i < n; ++i)
      numbers.push_back(
          static_cast<std::int32_t>(w * n_bins + (i < of_window.size() ? of_window.begin + i : 0)));
  }
  return pass.upload(numbers);
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

std::int64_t rounded_size(std::int64_t n) {
  std::int64_t unit = 1;
  while (8 * unit < n) unit *= 2;
  return (n + unit - 1) / unit * unit;
}

std::int64_t rows_capacity(std::span<const BinRows> rows, std::int64_t n_windows) {
  if (std::ssize(rows) != n_windows)
    throw std::invalid_argument("rows that are not of each window of a pass");
  std::int64_t n = 1;
  for (const BinRows& of_window : rows) n = std::max(n, of_window.size());
  return rounded_size(n);
}

TrackInputs upload_track_inputs(Pass& pass, const TrackEnd& end, const DnaModel::Request& request,
                                std::int64_t n_windows) {
  if ((!request.sums.empty() && request.sums.size() != end.layers.size()) ||
      (!request.rows.empty() && request.rows.size() != end.layers.size()))
    throw std::invalid_argument("sums or rows that are not of each loaded head");
  TrackInputs inputs;
  const std::int64_t n_bins = end.n_bins();
  if (request.embedding) inputs.all_bins = pass.upload(counting(n_windows * n_bins));
  inputs.sums.resize(request.sums.size());
  std::size_t last = request.sums.size();  // whose sums were uploaded
  for (std::size_t i = 0; i < request.sums.size(); ++i) {
    if (!end.has(i) || !request.wants_sums(i)) continue;
    TrackInputs::Sums& of_head = inputs.sums[i];
    const bool same = last < i && request.sums[i].data() == request.sums[last].data() &&
                      request.sums[i].size() == request.sums[last].size();
    of_head = same ? inputs.sums[last]
                   : upload_sums(pass, request.sums[i], std::max(n_windows, end.n_parts), n_bins);
    last = i;
    const HeadChoice& choice = end.model.heads()[i];
    const std::vector<std::int32_t> columns(choice.other_strand.begin(), choice.other_strand.end());
    const bool exchanged = request.other_strand && !columns.empty();
    of_head.columns = exchanged ? pass.upload(columns) : Tensor();
    pass.depends_on((same ? 2 : 0) + (exchanged ? 1 : 0));
  }
  inputs.rows.resize(request.rows.size());
  for (std::size_t i = 0; i < request.rows.size(); ++i)
    if (end.has(i) && request.wants_rows(i))
      inputs.rows[i] = upload_rows(pass, request.rows[i], n_windows, n_bins);
  return inputs;
}

void take_track_outputs(Pass& pass, const TrackEnd& end, const DnaModel::Request& request,
                        std::int64_t n_windows) {
  const std::int64_t n_rows = n_windows * end.n_bins();
  for (std::size_t i = 0; i < end.layers.size(); ++i) {
    if (!end.has(i)) continue;
    const HeadChoice& choice = end.model.heads()[i];
    const std::int64_t n_loaded = end.layers[i].linear.n_out;
    if (request.wants_tracks(i)) pass.output("tracks." + choice.name, {n_rows, n_loaded});
    if (request.wants_rows(i))
      pass.output("rows." + choice.name,
                  {n_windows * rows_capacity(request.rows[i], n_windows), n_loaded});
    if (request.wants_sums(i))
      pass.output(
          "sums." + choice.name,
          {sums_capacity(request.sums[i]), static_cast<std::int64_t>(end.model.n_tracks(choice))},
          DType::f64);
  }
  if (request.embedding) pass.output(end.embedding.output(), {n_rows, end.last.n_out});
}

void run_track_end(Pass& pass, const TrackEnd& end, const DnaModel::Request& request,
                   const Tensor& bins, const TrackInputs& inputs) {
  tensor::Context& context = pass.context();
  tensor::Arena& arena = pass.arena();
  const auto scope = arena.scope();
  const std::int64_t n_rows = bins.shape[0], n_embedding = end.last.n_out;
  const Tensor wanted = pass.find(end.embedding.output());  // f32
  Tensor embedding = wanted;
  if (wanted.empty()) embedding = arena.take(context.compute_dtype(), {n_rows, n_embedding});
  ops::gemm(context, {bins, &end.last, end.activation, {}, embedding});
  if (!request.tracks && request.sums.empty() && request.rows.empty()) return;
  if (embedding.dtype != context.compute_dtype()) {
    embedding = arena.take(context.compute_dtype(), {n_rows, n_embedding});
    ops::gather_rows(context, {wanted, inputs.all_bins, embedding});
  }
  run_heads(pass, end, request, embedding, inputs);
}

void run_heads(Pass& pass, const TrackEnd& end, const DnaModel::Request& request,
               const Tensor& embedding, const TrackInputs& inputs) {
  tensor::Context& context = pass.context();
  tensor::Arena& arena = pass.arena();
  const std::int64_t n_rows = embedding.shape[0];
  for (std::size_t i = 0; i < end.layers.size(); ++i) {
    if (!end.has(i) || !request.wants(i)) continue;
    const HeadChoice& choice = end.model.heads()[i];
    const HeadLayer& layer = end.layers[i];
    const auto of_head = arena.scope();
    Tensor tracks = pass.find("tracks." + choice.name);
    if (tracks.empty()) tracks = arena.take(DType::f32, {n_rows, layer.linear.n_out});
    if (layer.compute)
      layer.compute(pass, embedding, tracks);
    else
      ops::gemm(context, {embedding, &layer.linear, end.model.head(choice).activation, {}, tracks});
    if (layer.post_process) layer.post_process(context, tracks);
    if (request.wants_rows(i))
      ops::gather_rows(context, {tracks, inputs.rows[i], pass.find("rows." + choice.name)});
    if (!request.wants_sums(i)) continue;
    const TrackInputs::Sums& sums = inputs.sums[i];
    ops::range_sum(context, {tracks, sums.ranges, sums.factors, sums.columns,
                             pass.find("sums." + choice.name)});
  }
}

}  // namespace biogpu::models
