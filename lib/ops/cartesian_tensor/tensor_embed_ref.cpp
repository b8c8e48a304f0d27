#include "lib/ops/cartesian_tensor/tensor_embed.hpp"

#include "lib/ops/cartesian_tensor/matrix3.hpp"
#include "lib/ops/reference/real.hpp"

namespace biogpu::ops {
namespace {

using reference::Matrix;

// Id, skew(u) and u u^T - |u|^2 / 3 Id.
template <class T>
std::array<Matrix, 3> parts_of_direction(const Edges& edges, std::int64_t e) {
  const double length = edges.distance.as<T>()[e];
  double u[3] = {};
  for (std::size_t a = 0; a < 3; ++a)
    if (length > 0)
      u[a] = static_cast<double>(edges.displacement.as<T>()[3 * e + static_cast<std::int64_t>(a)]) /
             length;
  const double third = (u[0] * u[0] + u[1] * u[1] + u[2] * u[2]) / 3;
  Matrix symmetric{};
  for (std::size_t r = 0; r < 3; ++r)
    for (std::size_t c = 0; c < 3; ++c) symmetric[r][c] = u[r] * u[c] - (r == c ? third : 0);
  const Matrix identity = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  const Matrix skew = {{{0, -u[2], u[1]}, {u[2], 0, -u[0]}, {-u[1], u[0], 0}}};
  return {identity, skew, symmetric};
}

template <class T>
void embed_directions(const TensorEmbed& op) {
  const std::int64_t d = op.out.shape[2];
  const auto* const starts = op.edges->starts.as<std::int32_t>();
  for (std::int64_t i = 0; i < op.out.shape[1]; ++i)
    for (std::int64_t f = 0; f < d; ++f) {
      Matrix sum{};
      for (std::int64_t e = starts[i]; e < starts[i + 1]; ++e) {
        const std::array<Matrix, 3> parts = parts_of_direction<T>(*op.edges, e);
        for (std::int64_t p = 0; p < 3; ++p)
          sum = reference::plus(sum, parts[static_cast<std::size_t>(p)],
                                static_cast<double>(op.weights.as<T>()[(3 * e + p) * d + f]));
      }
      reference::store_matrix<T>(op.out, i, f, sum);
    }
}

}  // namespace

void tensor_embed_ref(const TensorEmbed& op) {
  reference::with_real(op.weights, [&](auto real) { embed_directions<decltype(real)>(op); });
}

}  // namespace biogpu::ops
