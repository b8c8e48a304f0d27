#include "lib/models/alphagenome/weight_reader.hpp"

#include <algorithm>
#include <cmath>

#include "lib/core/error.hpp"
#include "lib/ops/convolution/conv_weights.hpp"

namespace biogpu::models::alphagenome {

using tensor::DType;
using tensor::HostTensor;
using tensor::Linear;
using tensor::Norm;
using tensor::Tensor;
using tensor::WeightTable;

namespace {

constexpr double kEps = 1e-5;
constexpr double kMinSpread = 1e-4;  // of a standardised convolution's fan-in times variance

std::vector<float> to_floats(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

}  // namespace

std::vector<double> WeightReader::vector(const std::string& name, std::int64_t n) {
  const HostTensor read = table_.take(name, {n});
  return {read.values.begin(), read.values.end()};
}

// The organism's row; zeros for a model without organisms.
std::vector<double> WeightReader::of_organism(const std::string& name, std::int64_t n) {
  const HostTensor read = table_.take(name, {config_.stored_organisms(), n});
  const float* const row = read.values.data() + organism_ * n;
  return {row, row + n};
}

std::vector<double> WeightReader::of_organism(const std::string& name, std::int64_t a,
                                              std::int64_t b, std::int64_t c) {
  const HostTensor read = table_.take(name, {config_.stored_organisms(), a, b, c});
  const float* const row = read.values.data() + organism_ * a * b * c;
  return {row, row + a * b * c};
}

Scaling WeightReader::scaling(const std::string& name, std::int64_t channels) {
  const std::vector<double> weight = vector(name + ".weight", channels);
  const std::vector<double> variance = vector(name + ".running_var", channels);
  table_.ignore(name + ".num_batches_tracked");
  Scaling made{weight, vector(name + ".bias", channels)};
  for (std::size_t c = 0; c < variance.size(); ++c) {
    if (variance[c] < 0 && bad_variance_.empty()) bad_variance_ = name + ".running_var";
    made.scale[c] /= std::sqrt(std::max(0.0, variance[c]) + kEps);
  }
  return made;
}

Tensor WeightReader::upload(const std::vector<double>& values,
                            std::initializer_list<std::int64_t> shape) {
  std::vector<float> floats = to_floats(values);
  return context_.upload(Tensor(floats.data(), DType::f32, shape), DType::f32);
}

Affine WeightReader::affine(const Scaling& by) {
  const auto n = static_cast<std::int64_t>(by.scale.size());
  return {upload(by.scale, {n}), upload(by.shift, {n})};
}

Norm WeightReader::norm(const std::string& name, std::int64_t d, bool halved,
                        const std::vector<double>& more_bias) {
  Matrix both;  // columns: weight and bias
  both.n_out = d;
  both.n_in = 2;
  const std::vector<double> weight = vector(name + ".weight", d), bias = vector(name + ".bias", d);
  for (std::size_t i = 0; i < weight.size(); ++i) {
    both.weight.push_back(weight[i]);
    both.weight.push_back(bias[i] + (more_bias.empty() ? 0.0 : more_bias[i]));
  }
  if (halved) both.halve_pairs(d);
  std::vector<double> halves[2];
  for (std::size_t i = 0; i < both.weight.size(); ++i) halves[i % 2].push_back(both.weight[i]);
  return {upload(halves[0], {d}), upload(halves[1], {d}), static_cast<float>(kEps)};
}

Matrix WeightReader::matrix(const std::string& name, std::int64_t n_out, std::int64_t n_in,
                            bool has_bias, std::int64_t n_axes) {
  const HostTensor weight = n_axes == 3 ? table_.take(name + ".weight", {n_out, n_in, 1})
                                        : table_.take(name + ".weight", {n_out, n_in});
  Matrix made{n_out, n_in, {weight.values.begin(), weight.values.end()}, {}};
  made.bias = has_bias ? vector(name + ".bias", n_out)
                       : std::vector<double>(static_cast<std::size_t>(n_out));
  return made;
}

// Reads tensors [organisms, n_out, n_in] and [organisms, n_out].
Matrix WeightReader::organism_matrix(const std::string& name, std::int64_t n_out,
                                     std::int64_t n_in) {
  const HostTensor weight =
      table_.take(name + ".weight", {config_.stored_organisms(), n_out, n_in});
  const float* const from = weight.values.data() + organism_ * n_out * n_in;
  return {n_out, n_in, {from, from + n_out * n_in}, of_organism(name + ".bias", n_out)};
}

Linear WeightReader::upload(const Matrix& matrix) {
  if (table_.maps() == WeightTable::Maps::only_checked) return {};
  std::vector<float> weight = to_floats(matrix.weight), bias = to_floats(matrix.bias);
  Linear map =
      context_.upload_linear(Tensor(weight.data(), DType::f32, {matrix.n_out, matrix.n_in}),
                             Tensor(bias.data(), DType::f32, {matrix.n_out}));
  map.sum_in_parts = true;
  return map;
}

// Normalisation, GELU and a convolution of five taps whose weights are standardised: each output's
// less their mean, over the root of taps * inputs * variance, times its scale.
ConvBlock WeightReader::conv_block(const std::string& name, std::int64_t n_out, std::int64_t n_in) {
  ConvBlock block;
  block.norm = affine(scaling(name + ".norm", n_in));
  HostTensor weight = table_.take(name + ".conv.weight", {n_out, n_in, kTaps});
  const HostTensor scale = table_.take(name + ".conv.scale", {n_out, 1, 1});
  const HostTensor bias = table_.take(name + ".conv.bias", {n_out});
  if (table_.maps() == WeightTable::Maps::only_checked) return block;
  const std::int64_t n = n_in * kTaps;
  for (std::int64_t o = 0; o < n_out; ++o) {
    float* const row = weight.values.data() + o * n;
    double mean = 0, variance = 0;
    for (std::int64_t i = 0; i < n; ++i) mean += static_cast<double>(row[i]);
    mean /= static_cast<double>(n);
    for (std::int64_t i = 0; i < n; ++i)
      variance += (static_cast<double>(row[i]) - mean) * (static_cast<double>(row[i]) - mean);
    const double factor = static_cast<double>(scale.values[static_cast<std::size_t>(o)]) /
                          std::sqrt(std::max(variance, kMinSpread));
    for (std::int64_t i = 0; i < n; ++i)
      row[i] = static_cast<float>((static_cast<double>(row[i]) - mean) * factor);
  }
  std::vector<float> by_tap = ops::conv1d_weight(weight.view);
  block.conv =
      context_.upload_linear(Tensor(by_tap.data(), DType::f32, {n_out, kTaps, n_in}), bias.view);
  block.conv.sum_in_parts = true;
  return block;
}

ConvBlock WeightReader::point_block(const std::string& name, std::int64_t channels) {
  ConvBlock block;
  block.norm = affine(scaling(name + ".norm", channels));
  block.conv = upload(matrix(name + ".conv", channels, channels, true, 3));
  return block;
}

Matrix WeightReader::organism_matrix_by_input(const std::string& name, std::int64_t n_out,
                                              std::int64_t n_in) {
  const HostTensor read = table_.take(name + ".weight", {config_.stored_organisms(), n_in, n_out});
  Matrix map{n_out, n_in, {}, of_organism(name + ".bias", n_out)};
  for (std::int64_t o = 0; o < n_out; ++o)
    for (std::int64_t i = 0; i < n_in; ++i)
      map.weight.push_back(static_cast<double>(
          read.values[static_cast<std::size_t>((organism_ * n_in + i) * n_out + o)]));
  return map;
}

void WeightReader::finish() {
  table_.finish();
  if (!bad_variance_.empty())
    throw Error(ErrorCode::bad_input, bad_variance_ + " has a negative number; expected variances");
}

}  // namespace biogpu::models::alphagenome
