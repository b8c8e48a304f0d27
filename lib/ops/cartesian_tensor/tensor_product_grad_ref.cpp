#include "lib/ops/cartesian_tensor/matrix3.hpp"
#include "lib/ops/cartesian_tensor/tensor_parts.hpp"
#include "lib/ops/cartesian_tensor/tensor_product_grad.hpp"
#include "lib/ops/reference/real.hpp"

namespace biogpu::ops {
namespace {

using reference::Matrix;

template <class T>
void tensor_product_grad_of(const TensorProductGrad& op, std::int64_t i, std::int64_t f) {
  const Matrix y = reference::load_matrix<T>(op.y, i, f), m = reference::load_matrix<T>(op.m, i, f);
  const double k = op.factor.empty() ? 1 : static_cast<double>(op.factor.as<T>()[i]);
  const Matrix left = reference::times(y, m);
  const Matrix sum = reference::plus(left, op.one_sided ? left : reference::times(m, y));
  const Matrix c = reference::plus(Matrix{}, sum, k);
  const double scale = 1 / (reference::inner(c, c) + 1);
  const Matrix d_small = reference::load_matrix_grad<T>(op.d_out, i, f);
  const Matrix d_c = reference::plus(reference::plus(Matrix{}, d_small, scale), c,
                                     -2 * scale * scale * reference::inner(d_small, c));
  const Matrix y_t = reference::transposed(y), m_t = reference::transposed(m);
  Matrix d_y = reference::times(d_c, m_t), d_m = reference::times(y_t, d_c);
  d_y = reference::plus(d_y, op.one_sided ? d_y : reference::times(m_t, d_c));
  d_m = reference::plus(d_m, op.one_sided ? d_m : reference::times(d_c, y_t));
  reference::store_matrix_grad<T>(op.d_y, i, f, reference::plus(Matrix{}, d_y, k));
  reference::store_matrix_grad<T>(op.d_m, i, f, reference::plus(Matrix{}, d_m, k));
}

}  // namespace

void tensor_product_grad_ref(const TensorProductGrad& op) {
  reference::with_real(op.y, [&](auto real) {
    for (std::int64_t i = 0; i < op.y.shape[1]; ++i)
      for (std::int64_t f = 0; f < op.y.shape[2]; ++f)
        tensor_product_grad_of<decltype(real)>(op, i, f);
  });
}

}  // namespace biogpu::ops
