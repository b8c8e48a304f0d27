#include "lib/models/tensornet/ops/radial_embed.hpp"

#include "lib/models/tensornet/ops/table_lookup_ref.hpp"
#include "lib/ops/cartesian_tensor/matrix3.hpp"
#include "lib/ops/reference/real.hpp"

namespace biogpu::models::tensornet {
namespace {

using ops::reference::Matrix;

// An edge as the operation sees it.
template <class T>
struct ExactEdge {
  const RadialEmbed& op;
  std::int64_t e, i, j;
  TableLookupRef place;
  double length;
  double u[3] = {};

  ExactEdge(const RadialEmbed& from, std::int64_t edge)
      : op(from),
        e(edge),
        i(from.edges->receivers.as<std::int32_t>()[edge]),
        j(from.edges->neighbours.as<std::int32_t>()[edge]),
        place(static_cast<double>(from.edges->distance.as<T>()[edge]),
              static_cast<double>(from.lower), static_cast<double>(from.upper),
              from.table.shape[0]),
        length(static_cast<double>(from.edges->distance.as<T>()[edge])) {
    for (std::int64_t a = 0; a < 3; ++a)
      if (length > 0)
        u[a] = static_cast<double>(op.edges->displacement.as<T>()[3 * e + a]) / length;
  }

  double factor(std::int64_t f) const {
    const auto* const types = op.types.as<std::int32_t>();
    return static_cast<double>(op.receiver.row<T>(types[i])[f]) + op.neighbour.row<T>(types[j])[f];
  }
  double weight(std::int64_t p, std::int64_t f) const {
    const std::int64_t d = op.receiver.shape[1];
    return factor(f) * place.value(op.table.row<T>(place.interval), p * d + f, 3 * d);
  }
  double slope(std::int64_t p, std::int64_t f) const {
    const std::int64_t d = op.receiver.shape[1];
    return factor(f) * place.slope(op.table.row<T>(place.interval), p * d + f, 3 * d);
  }
};

// Id, skew(u) and u u^T - |u|^2 / 3 Id.
std::array<Matrix, 3> parts_of_direction(const double* u) {
  const double third = (u[0] * u[0] + u[1] * u[1] + u[2] * u[2]) / 3;
  Matrix symmetric{};
  for (std::size_t r = 0; r < 3; ++r)
    for (std::size_t c = 0; c < 3; ++c) symmetric[r][c] = u[r] * u[c] - (r == c ? third : 0);
  const Matrix identity = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  const Matrix skew = {{{0, -u[2], u[1]}, {u[2], 0, -u[0]}, {-u[1], u[0], 0}}};
  return {identity, skew, symmetric};
}

template <class T>
void embed_directions(const RadialEmbed& op) {
  const auto* const starts = op.edges->starts.as<std::int32_t>();
  for (std::int64_t i = 0; i < op.out.shape[1]; ++i)
    for (std::int64_t f = 0; f < op.out.shape[2]; ++f) {
      Matrix sum{};
      for (std::int64_t e = starts[i]; e < starts[i + 1]; ++e) {
        const ExactEdge<T> edge(op, e);
        const std::array<Matrix, 3> parts = parts_of_direction(edge.u);
        for (std::size_t p = 0; p < 3; ++p)
          sum = ops::reference::plus(sum, parts[p], edge.weight(static_cast<std::int64_t>(p), f));
      }
      ops::reference::store_matrix<T>(op.out, i, f, sum);
    }
}

// One channel of one edge; adds to d_r what the displacement gets back, and returns what the
// distance does.
template <class T>
double grad_of_channel(const RadialEmbedGrad& op, const ExactEdge<T>& edge, std::int64_t f,
                       double* d_r) {
  const double* const u = edge.u;
  // The gradient of the whole matrix, then of each part's weight, then of u.
  const Matrix g = ops::reference::load_matrix_grad<T>(op.d_out, edge.i, f);
  const double axis[3] = {g[2][1] - g[1][2], g[0][2] - g[2][0], g[1][0] - g[0][1]};
  const double trace = g[0][0] + g[1][1] + g[2][2];
  const double skew_weight = edge.weight(1, f), symmetric_weight = edge.weight(2, f);
  double skew = 0, symmetric = 0, d_u[3] = {}, along = 0;
  for (std::size_t r = 0; r < 3; ++r) {
    skew += axis[r] * u[r];
    symmetric -= trace * u[r] * u[r] / 3;
    d_u[r] = skew_weight * axis[r] - symmetric_weight * 2 * trace * u[r] / 3;
    for (std::size_t c = 0; c < 3; ++c) {
      symmetric += u[r] * g[r][c] * u[c];
      d_u[r] += symmetric_weight * (g[r][c] + g[c][r]) * u[c];
    }
    along += d_u[r] * u[r];
  }
  for (std::size_t r = 0; r < 3; ++r)
    if (edge.length > 0) d_r[r] += (d_u[r] - along * u[r]) / edge.length;
  return edge.slope(0, f) * trace + edge.slope(1, f) * skew + edge.slope(2, f) * symmetric;
}

template <class T>
void grad_of_edges(const RadialEmbedGrad& op) {
  const Edges& edges = *op.forward.edges;
  const std::int64_t n_edges = edges.starts.as<std::int32_t>()[edges.n_atoms()];
  for (std::int64_t e = 0; e < n_edges; ++e) {
    const ExactEdge<T> edge(op.forward, e);
    double d_r[3] = {}, d = op.previous.empty() ? 0 : static_cast<double>(op.previous.as<T>()[e]);
    for (std::int64_t f = 0; f < op.d_out.shape[2]; ++f) d += grad_of_channel(op, edge, f, d_r);
    op.d_distance.as<T>()[e] = static_cast<T>(d);
    for (std::int64_t a = 0; a < 3; ++a)
      op.d_displacement.as<T>()[3 * e + a] = static_cast<T>(d_r[a]);
  }
}

}  // namespace

void radial_embed_ref(const RadialEmbed& op) {
  ops::reference::with_real(op.out, [&](auto real) { embed_directions<decltype(real)>(op); });
}

void radial_embed_grad_ref(const RadialEmbedGrad& op) {
  ops::reference::with_real(op.d_out, [&](auto real) { grad_of_edges<decltype(real)>(op); });
}

}  // namespace biogpu::models::tensornet
