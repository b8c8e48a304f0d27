#include "lib/ops/cartesian_tensor/tensor_embed_grad.hpp"

#include "lib/ops/cartesian_tensor/matrix3.hpp"
#include "lib/ops/reference/real.hpp"

namespace biogpu::ops {
namespace {

using reference::Matrix;

// One channel of one edge; adds to d_r what the displacement gets back.
template <class T>
void grad_of_channel(const TensorEmbedGrad& op, std::int64_t e, std::int64_t f, double* d_r) {
  const std::int64_t d = op.weights.shape[2], i = op.edges->receivers.as<std::int32_t>()[e];
  const double length = op.edges->distance.as<T>()[e];
  double u[3] = {};
  for (std::int64_t a = 0; a < 3; ++a)
    if (length > 0) u[a] = static_cast<double>(op.edges->displacement.as<T>()[3 * e + a]) / length;
  const auto weight = [&](std::int64_t p) {
    return static_cast<double>(op.weights.as<T>()[(3 * e + p) * d + f]);
  };
  // The gradient of the whole matrix, then of each part's weight, then of u.
  const Matrix g = reference::load_matrix_grad<T>(op.d_out, i, f);
  const double axis[3] = {g[2][1] - g[1][2], g[0][2] - g[2][0], g[1][0] - g[0][1]};
  const double trace = g[0][0] + g[1][1] + g[2][2];
  double skew = 0, symmetric = 0, d_u[3] = {}, along = 0;
  for (std::size_t r = 0; r < 3; ++r) {
    skew += axis[r] * u[r];
    symmetric -= trace * u[r] * u[r] / 3;
    d_u[r] = weight(1) * axis[r] - weight(2) * 2 * trace * u[r] / 3;
    for (std::size_t c = 0; c < 3; ++c) {
      symmetric += u[r] * g[r][c] * u[c];
      d_u[r] += weight(2) * (g[r][c] + g[c][r]) * u[c];
    }
    along += d_u[r] * u[r];
  }
  T* const d_weights = op.d_weights.as<T>() + 3 * e * d + f;
  d_weights[0] = static_cast<T>(trace);
  d_weights[d] = static_cast<T>(skew);
  d_weights[2 * d] = static_cast<T>(symmetric);
  for (std::size_t r = 0; r < 3; ++r)
    if (length > 0) d_r[r] += (d_u[r] - along * u[r]) / length;
}

template <class T>
void grad_of_directions(const TensorEmbedGrad& op) {
  const std::int64_t n_edges = op.edges->starts.as<std::int32_t>()[op.edges->n_atoms()];
  for (std::int64_t e = 0; e < n_edges; ++e) {
    double d_r[3] = {};
    for (std::int64_t f = 0; f < op.weights.shape[2]; ++f) grad_of_channel<T>(op, e, f, d_r);
    for (std::int64_t a = 0; a < 3; ++a)
      op.d_displacement.as<T>()[3 * e + a] = static_cast<T>(d_r[a]);
  }
}

}  // namespace

void tensor_embed_grad_ref(const TensorEmbedGrad& op) {
  reference::with_real(op.weights, [&](auto real) { grad_of_directions<decltype(real)>(op); });
}

}  // namespace biogpu::ops
