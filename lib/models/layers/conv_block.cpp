#include "lib/models/layers/conv_block.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "lib/core/error.hpp"
#include "lib/ops/convolution/conv_weights.hpp"

namespace biogpu::models {

using tensor::DType;
using tensor::HostTensor;
using tensor::Tensor;
using tensor::WeightTable;

Affine ConvReader::affine(const std::string& name, std::int64_t channels) {
  const HostTensor weight = table_.take(name + ".weight", {channels});
  const HostTensor bias = table_.take(name + ".bias", {channels});
  const HostTensor mean = table_.take(name + ".running_mean", {channels});
  const HostTensor variance = table_.take(name + ".running_var", {channels});
  table_.ignore(name + ".num_batches_tracked");
  std::vector<float> scale(static_cast<std::size_t>(channels)), shift(scale.size());
  for (std::size_t c = 0; c < scale.size(); ++c) {
    if (variance.values[c] < 0 && bad_variance_.empty()) bad_variance_ = name + ".running_var";
    const double factor = static_cast<double>(weight.values[c]) /
                          std::sqrt(std::max(0.0, static_cast<double>(variance.values[c])) + eps_);
    scale[c] = static_cast<float>(factor);
    shift[c] = static_cast<float>(static_cast<double>(bias.values[c]) -
                                  static_cast<double>(mean.values[c]) * factor);
  }
  return {context_.upload(Tensor(scale.data(), DType::f32, {channels}), DType::f32),
          context_.upload(Tensor(shift.data(), DType::f32, {channels}), DType::f32)};
}

tensor::Linear ConvReader::conv(const std::string& name, std::int64_t n_out, std::int64_t n_in,
                                std::int64_t n_taps) {
  const HostTensor weight = table_.take(name + ".weight", {n_out, n_in, n_taps});
  const HostTensor bias = table_.take(name + ".bias", {n_out});
  if (table_.maps() == WeightTable::Maps::only_checked) return {};
  std::vector<float> by_tap = ops::conv1d_weight(weight.view);
  tensor::Linear map =
      context_.upload_linear(Tensor(by_tap.data(), DType::f32, {n_out, n_taps, n_in}), bias.view);
  map.sum_in_parts = true;
  return map;
}

ConvBlock ConvReader::block(const std::string& norm, const std::string& name, std::int64_t n_out,
                            std::int64_t n_in, std::int64_t n_taps) {
  ConvBlock block;
  block.norm = affine(norm, n_in);
  block.conv = conv(name, n_out, n_in, n_taps);
  return block;
}

LetterConv ConvReader::letters(const std::string& name, std::int64_t channels,
                               std::int64_t n_taps) {
  const HostTensor weight = table_.take(name + ".weight", {channels, 4, n_taps});
  const HostTensor bias = table_.take(name + ".bias", {channels});
  std::vector<float> table = ops::letter_table(weight.view);
  return {context_.upload(Tensor(table.data(), DType::f32, {n_taps, ops::kLetterCodes, channels}),
                          DType::f32),
          context_.upload(bias.view, DType::f32)};
}

Tensor ConvReader::depthwise(const std::string& name, std::int64_t channels, std::int64_t n_taps) {
  const HostTensor weight = table_.take(name + ".weight", {channels, 1, n_taps});
  std::vector<float> by_tap(static_cast<std::size_t>(channels * n_taps));
  for (std::int64_t c = 0; c < channels; ++c)
    for (std::int64_t tap = 0; tap < n_taps; ++tap)
      by_tap[static_cast<std::size_t>(tap * channels + c)] =
          weight.values[static_cast<std::size_t>(c * n_taps + tap)];
  return context_.upload(Tensor(by_tap.data(), DType::f32, {n_taps, channels}), DType::f32);
}

void ConvReader::require_variances() const {
  if (!bad_variance_.empty())
    throw Error(ErrorCode::bad_input, bad_variance_ + " has a negative number; expected variances");
}

}  // namespace biogpu::models
