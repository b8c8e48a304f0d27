#include "lib/ops/cartesian_tensor/matrix3.hpp"
#include "lib/ops/cartesian_tensor/tensor_norm_grad.hpp"
#include "lib/ops/cartesian_tensor/tensor_parts.hpp"
#include "lib/ops/reference/real.hpp"

namespace biogpu::ops {
namespace {

using reference::Matrix;

template <class T>
void tensor_norm_grad_of(const TensorNormGrad& op, std::int64_t i, std::int64_t f) {
  const std::int64_t n_parts = op.d_out.shape[1], n = op.x.shape[1], d = op.x.shape[2];
  for (int c = 0; c < 9; ++c) {
    double sum = 0;
    for (int k = 0; k < 9; ++k)
      if (part_of(c, 9) == part_of(k, 9))
        sum += 2 * reference::inner(reference::basis(c), reference::basis(k)) *
               static_cast<double>(op.x.as<T>()[(k * n + i) * d + f]);
    const std::int64_t part = n_parts == 1 ? 0 : part_of(c, 9);
    const double g = op.d_out.as<T>()[(i * n_parts + part) * d + f];
    op.d_x.as<T>()[(c * n + i) * d + f] = static_cast<T>(g * sum);
  }
}

}  // namespace

void tensor_norm_grad_ref(const TensorNormGrad& op) {
  reference::with_real(op.x, [&](auto real) {
    for (std::int64_t i = 0; i < op.x.shape[1]; ++i)
      for (std::int64_t f = 0; f < op.x.shape[2]; ++f)
        tensor_norm_grad_of<decltype(real)>(op, i, f);
  });
}

}  // namespace biogpu::ops
