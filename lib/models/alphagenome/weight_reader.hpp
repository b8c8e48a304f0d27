#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "lib/models/alphagenome/config.hpp"
#include "lib/models/layers/conv_block.hpp"
#include "lib/tensor/context.hpp"
#include "lib/tensor/weights/weight_table.hpp"

namespace biogpu::models::alphagenome {

// A norm over the running variance of each channel, which takes off no mean: x * scale + shift.
struct Scaling {
  std::vector<double> scale, shift;
};

// A linear map on the host, into which its neighbours are folded.
struct Matrix {
  std::int64_t n_out = 0, n_in = 0;
  std::vector<double> weight, bias;  // [n_out, n_in], [n_out]

  // Makes it map(x * scale + shift).
  void fold_input(const Scaling& by) {
    for (std::int64_t o = 0; o < n_out; ++o)
      for (std::int64_t i = 0; i < n_in; ++i) {
        double& w = weight[static_cast<std::size_t>(o * n_in + i)];
        bias[static_cast<std::size_t>(o)] += w * by.shift[static_cast<std::size_t>(i)];
        w *= by.scale[static_cast<std::size_t>(i)];
      }
  }
  // Makes it map(x) * scale + shift.
  void fold_output(const Scaling& by) {
    for (std::int64_t o = 0; o < n_out; ++o) {
      const auto at = static_cast<std::size_t>(o);
      for (std::int64_t i = 0; i < n_in; ++i)
        weight[static_cast<std::size_t>(o * n_in + i)] *= by.scale[at];
      bias[at] = bias[at] * by.scale[at] + by.shift[at];
    }
  }
  // Even rows before odd ones in each block of n rows: rotate_heads turns halves, the original
  // neighbours. Products of two such rows stay what they are.
  void halve_pairs(std::int64_t n) {
    const std::vector<double> rows = weight;
    for (std::int64_t o = 0; o < n_out; ++o) {
      const std::int64_t in_block = o % n,
                         from = in_block < n / 2 ? 2 * in_block : 2 * in_block - n + 1;
      std::copy_n(rows.begin() + (o - in_block + from) * n_in, n_in, weight.begin() + o * n_in);
    }
  }
  void append(const Matrix& below) {
    n_out += below.n_out;
    n_in = below.n_in;
    weight.insert(weight.end(), below.weight.begin(), below.weight.end());
    bias.insert(bias.end(), below.bias.begin(), below.bias.end());
  }
};

// Reads a checkpoint's tensors by name and folds them. Names are without ".weight" and ".bias".
class WeightReader {
 public:
  // organism: whose row is taken of tensors that have one for each.
  WeightReader(const Config& config, std::int64_t organism, tensor::WeightTable& table,
               tensor::Context& context)
      : config_(config), table_(table), context_(context), organism_(organism) {}

  const Config& config() const { return config_; }
  tensor::WeightTable& table() { return table_; }
  tensor::Context& context() { return context_; }

  std::vector<double> vector(const std::string& name, std::int64_t n);
  // The organism's row of a tensor [organisms, n].
  std::vector<double> of_organism(const std::string& name, std::int64_t n);
  // The same of a tensor [organisms, a, b, c].
  std::vector<double> of_organism(const std::string& name, std::int64_t a, std::int64_t b,
                                  std::int64_t c);
  Scaling scaling(const std::string& name, std::int64_t channels);
  // halved: as Matrix::halve_pairs(). more_bias: is added, or empty.
  tensor::Norm norm(const std::string& name, std::int64_t d, bool halved = false,
                    const std::vector<double>& more_bias = {});
  // n_axes 3: stored as [n_out, n_in, 1].
  Matrix matrix(const std::string& name, std::int64_t n_out, std::int64_t n_in, bool has_bias,
                std::int64_t n_axes = 2);
  // The organism's map of tensors [organisms, n_out, n_in] and [organisms, n_out].
  Matrix organism_matrix(const std::string& name, std::int64_t n_out, std::int64_t n_in);
  // The same of a weight [organisms, n_in, n_out].
  Matrix organism_matrix_by_input(const std::string& name, std::int64_t n_out, std::int64_t n_in);
  ConvBlock conv_block(const std::string& name, std::int64_t n_out, std::int64_t n_in);
  ConvBlock point_block(const std::string& name, std::int64_t channels);

  Affine affine(const Scaling& by);
  tensor::Linear upload(const Matrix& matrix);
  tensor::Linear linear(const std::string& name, std::int64_t n_out, std::int64_t n_in,
                        bool has_bias) {
    return upload(matrix(name, n_out, n_in, has_bias));
  }
  tensor::Tensor upload(const std::vector<double>& values,
                        std::initializer_list<std::int64_t> shape);

  // Throws Error{bad_input} for all that is wrong so far.
  void finish();

 private:
  const Config& config_;
  tensor::WeightTable& table_;
  tensor::Context& context_;
  const std::int64_t organism_;
  std::string bad_variance_;
};

}  // namespace biogpu::models::alphagenome
