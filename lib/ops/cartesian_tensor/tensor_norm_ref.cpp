#include "lib/ops/cartesian_tensor/matrix3.hpp"
#include "lib/ops/cartesian_tensor/tensor_norm.hpp"
#include "lib/ops/cartesian_tensor/tensor_parts.hpp"
#include "lib/ops/reference/real.hpp"

namespace biogpu::ops {
namespace {

using reference::Matrix;

template <class T>
void tensor_norm_of(const TensorNorm& op, std::int64_t i, std::int64_t f) {
  double squares[3] = {};
  for (int c = 0; c < 9; ++c)
    for (int k = 0; k < 9; ++k)  // parts are orthogonal, the numbers of one are not
      if (part_of(c, 9) == part_of(k, 9))
        squares[part_of(c, 9)] +=
            reference::inner(reference::basis(c), reference::basis(k)) *
            static_cast<double>(op.x.as<T>()[(c * op.x.shape[1] + i) * op.x.shape[2] + f]) *
            static_cast<double>(op.x.as<T>()[(k * op.x.shape[1] + i) * op.x.shape[2] + f]);
  const std::int64_t n_parts = op.out.shape[1], d = op.x.shape[2];
  T* const out = op.out.as<T>() + i * n_parts * d + f;
  if (n_parts == 1) {
    out[0] = static_cast<T>(squares[0] + squares[1] + squares[2]);
  } else {
    for (int p = 0; p < 3; ++p) out[p * d] = static_cast<T>(squares[p]);
  }
}

}  // namespace

void tensor_norm_ref(const TensorNorm& op) {
  reference::with_real(op.x, [&](auto real) {
    for (std::int64_t i = 0; i < op.x.shape[1]; ++i)
      for (std::int64_t f = 0; f < op.x.shape[2]; ++f) tensor_norm_of<decltype(real)>(op, i, f);
  });
}

}  // namespace biogpu::ops
