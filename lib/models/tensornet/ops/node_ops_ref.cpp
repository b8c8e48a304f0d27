#include <cmath>
#include <vector>

#include "lib/models/tensornet/ops/node_ops.hpp"
#include "lib/ops/cartesian_tensor/matrix3.hpp"
#include "lib/ops/cartesian_tensor/tensor_parts.hpp"
#include "lib/ops/reference/real.hpp"

namespace biogpu::models::tensornet {
namespace {

using ops::reference::inner;
using ops::reference::load_matrix;
using ops::reference::load_matrix_grad;
using ops::reference::Matrix;
using ops::reference::plus;
using ops::reference::times;
using ops::reference::transposed;
using ops::reference::with_real;

// body(T{}, atom, channel) for all tensors of an array [9, T, F].
template <class Body>
void for_each_tensor(const Tensor& x, const Body& body) {
  with_real(x, [&](auto real) {
    for (std::int64_t i = 0; i < x.shape[1]; ++i)
      for (std::int64_t f = 0; f < x.shape[2]; ++f) body(real, i, f);
  });
}

template <class T>
double factor_of(const Tensor& factor, std::int64_t i) {
  return factor.empty() ? 1 : static_cast<double>(factor.as<T>()[i]);
}

template <class T>
void standardise(const LayerNormGrad& op, std::int64_t r) {
  const T *const x = op.x.row<T>(r), *const d_out = op.d_out.row<T>(r);
  const std::int64_t d = op.x.shape[1];
  const auto n = static_cast<double>(d);
  double mean = 0, variance = 0;
  for (std::int64_t k = 0; k < d; ++k) mean += static_cast<double>(x[k]) / n;
  for (std::int64_t k = 0; k < d; ++k) variance += (x[k] - mean) * (x[k] - mean) / n;
  const double scale = 1 / std::sqrt(variance + static_cast<double>(op.norm.eps));
  std::vector<double> z(static_cast<std::size_t>(d)), g = z;
  double mean_g = 0, mean_gz = 0;
  for (std::size_t k = 0; k < z.size(); ++k) {
    z[k] = (x[k] - mean) * scale;
    g[k] = static_cast<double>(d_out[k]) * static_cast<double>(op.norm.weight.as<T>()[k]);
    mean_g += g[k] / n;
    mean_gz += g[k] * z[k] / n;
  }
  for (std::size_t k = 0; k < z.size(); ++k)
    op.d_x.row<T>(r)[k] = static_cast<T>(scale * (g[k] - mean_g - z[k] * mean_gz));
}

}  // namespace

void part_scale_ref(const PartScale& op) {
  with_real(op.x, [&](auto real) {
    using T = decltype(real);
    const std::int64_t n = op.x.shape[1], d = op.x.shape[2];
    for (std::int64_t c = 0; c < 9; ++c)
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t f = 0; f < d; ++f) {
          const std::int64_t part = ops::part_of(static_cast<int>(c), 9);
          op.out.as<T>()[(c * n + i) * d + f] =
              op.weights.as<T>()[(3 * i + part) * d + f] * op.x.as<T>()[(c * n + i) * d + f];
        }
  });
}

void part_scale_grad_ref(const PartScaleGrad& op) {
  for_each_tensor(op.x, [&](auto real, std::int64_t i, std::int64_t f) {
    using T = decltype(real);
    const std::int64_t n = op.x.shape[1], d = op.x.shape[2];
    double sums[3] = {};
    for (std::int64_t c = 0; c < 9; ++c) {
      const std::int64_t part = ops::part_of(static_cast<int>(c), 9), at = (c * n + i) * d + f;
      const double g = op.d_out.as<T>()[at];
      sums[part] += g * static_cast<double>(op.x.as<T>()[at]);
      op.d_x.as<T>()[at] =
          static_cast<T>(g * static_cast<double>(op.weights.as<T>()[(3 * i + part) * d + f]));
    }
    for (std::int64_t p = 0; p < 3; ++p)
      op.d_weights.as<T>()[(3 * i + p) * d + f] = static_cast<T>(sums[p]);
  });
}

void tensor_shrink_ref(const TensorShrink& op) {
  for_each_tensor(op.x, [&](auto real, std::int64_t i, std::int64_t f) {
    using T = decltype(real);
    const Matrix x = load_matrix<T>(op.x, i, f);
    ops::reference::store_matrix<T>(op.out, i, f, plus(Matrix{}, x, 1 / (inner(x, x) + 1)));
  });
}

void tensor_shrink_grad_ref(const TensorShrinkGrad& op) {
  for_each_tensor(op.x, [&](auto real, std::int64_t i, std::int64_t f) {
    using T = decltype(real);
    const Matrix x = load_matrix<T>(op.x, i, f), g = load_matrix_grad<T>(op.d_out, i, f);
    const double scale = 1 / (inner(x, x) + 1);
    const Matrix d_x = plus(plus(Matrix{}, g, scale), x, -2 * scale * scale * inner(g, x));
    ops::reference::store_matrix_grad<T>(op.d_x, i, f, d_x);
  });
}

void tensor_update_ref(const TensorUpdate& op) {
  for_each_tensor(op.x, [&](auto real, std::int64_t i, std::int64_t f) {
    using T = decltype(real);
    const Matrix x = load_matrix<T>(op.x, i, f), y = load_matrix<T>(op.y, i, f);
    ops::reference::store_matrix<T>(op.out, i, f,
                                    plus(plus(x, y), times(y, y), factor_of<T>(op.factor, i)));
  });
}

void tensor_update_grad_ref(const TensorUpdateGrad& op) {
  for_each_tensor(op.y, [&](auto real, std::int64_t i, std::int64_t f) {
    using T = decltype(real);
    const Matrix y_t = transposed(load_matrix<T>(op.y, i, f)),
                 g = load_matrix_grad<T>(op.d_out, i, f);
    const Matrix products = plus(times(g, y_t), times(y_t, g));
    ops::reference::store_matrix_grad<T>(op.d_y, i, f,
                                         plus(g, products, factor_of<T>(op.factor, i)));
  });
}

void sigmoid_gate_ref(const SigmoidGate& op) {
  with_real(op.x, [&](auto real) {
    using T = decltype(real);
    for (std::int64_t i = 0; i < op.x.size(); ++i)
      op.out.as<T>()[i] = static_cast<T>(static_cast<double>(op.x.as<T>()[i]) /
                                         (1 + std::exp(-static_cast<double>(op.gate.as<T>()[i]))));
  });
}

void sigmoid_gate_grad_ref(const SigmoidGateGrad& op) {
  with_real(op.x, [&](auto real) {
    using T = decltype(real);
    for (std::int64_t i = 0; i < op.x.size(); ++i) {
      const double s = 1 / (1 + std::exp(-static_cast<double>(op.gate.as<T>()[i])));
      const double g = op.d_out.as<T>()[i], x = op.x.as<T>()[i];
      op.d_x.as<T>()[i] = static_cast<T>(g * s);
      op.d_gate.as<T>()[i] = static_cast<T>(g * x * s * (1 - s));
    }
  });
}

void layer_norm_grad_ref(const LayerNormGrad& op) {
  with_real(op.x, [&](auto real) {
    for (std::int64_t r = 0; r < op.x.shape[0]; ++r) standardise<decltype(real)>(op, r);
  });
}

}  // namespace biogpu::models::tensornet
