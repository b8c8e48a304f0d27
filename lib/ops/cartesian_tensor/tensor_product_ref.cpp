#include "lib/ops/cartesian_tensor/matrix3.hpp"
#include "lib/ops/cartesian_tensor/tensor_parts.hpp"
#include "lib/ops/cartesian_tensor/tensor_product.hpp"
#include "lib/ops/reference/real.hpp"

namespace biogpu::ops {
namespace {

using reference::Matrix;

template <class T>
void tensor_product_of(const TensorProduct& op, std::int64_t i, std::int64_t f) {
  const Matrix y = reference::load_matrix<T>(op.y, i, f), m = reference::load_matrix<T>(op.m, i, f);
  const double k = op.factor.empty() ? 1 : static_cast<double>(op.factor.as<T>()[i]);
  const Matrix left = reference::times(y, m);
  const Matrix sum = reference::plus(left, op.one_sided ? left : reference::times(m, y));
  const Matrix c = reference::plus(Matrix{}, sum, k);
  const double scale = 1 / (reference::inner(c, c) + 1);
  reference::store_matrix<T>(op.out, i, f, reference::plus(Matrix{}, c, scale));
}

}  // namespace

void tensor_product_ref(const TensorProduct& op) {
  reference::with_real(op.y, [&](auto real) {
    for (std::int64_t i = 0; i < op.y.shape[1]; ++i)
      for (std::int64_t f = 0; f < op.y.shape[2]; ++f) tensor_product_of<decltype(real)>(op, i, f);
  });
}

}  // namespace biogpu::ops
