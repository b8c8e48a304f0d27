#pragma once

#include <cstdint>
#include <string>

#include "lib/ops/activation.hpp"
#include "lib/tensor/context.hpp"
#include "lib/tensor/weights/weight_table.hpp"

namespace biogpu::models {

// Batch normalisation of inference as it is applied: x * scale + shift, by channel.
struct Affine {
  tensor::Tensor scale;  // f32 [channels]
  tensor::Tensor shift;  // f32 [channels]
};

// Normalisation, GELU and a convolution of what comes out.
struct ConvBlock {
  Affine norm;
  tensor::Linear conv;  // n_in: taps times channels
};

// A model's first convolution, as ops::Conv1dLetters reads it.
struct LetterConv {
  tensor::Tensor table;  // f32 [taps, codes, channels]
  tensor::Tensor bias;   // f32 [channels]
};

// Reads the convolutions of DNA models: names without ".weight" and ".bias".
class ConvReader {
 public:
  // eps: of batch normalisations.
  ConvReader(tensor::WeightTable& table, tensor::Context& context, double eps)
      : table_(table), context_(context), eps_(eps) {}

  Affine affine(const std::string& name, std::int64_t channels);
  // Weights [n_out, n_in, n_taps].
  tensor::Linear conv(const std::string& name, std::int64_t n_out, std::int64_t n_in,
                      std::int64_t n_taps);
  ConvBlock block(const std::string& norm, const std::string& name, std::int64_t n_out,
                  std::int64_t n_in, std::int64_t n_taps);
  // Weights [channels, 4, n_taps].
  LetterConv letters(const std::string& name, std::int64_t channels, std::int64_t n_taps);
  // Weights [channels, 1, n_taps] as ops::DepthwiseConv1d reads them, without a bias.
  tensor::Tensor depthwise(const std::string& name, std::int64_t channels, std::int64_t n_taps);

  // Throws Error{bad_input} where a variance was negative.
  void require_variances() const;

 private:
  tensor::WeightTable& table_;
  tensor::Context& context_;
  const double eps_;
  std::string bad_variance_;  // the first tensor that has one
};

}  // namespace biogpu::models
