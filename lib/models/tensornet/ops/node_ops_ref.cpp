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

}  // namespace biogpu::models::tensornet
