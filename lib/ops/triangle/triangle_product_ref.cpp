#include <cmath>
#include <vector>

#include "lib/ops/reference/layer_norm_row.hpp"
#include "lib/ops/triangle/triangle_product.hpp"

namespace biogpu::ops {
namespace {

using Row = std::vector<double>;

// Number `o` of a map of x.
double map_at(const Linear& map, const Row& x, std::int64_t o) {
  double y = map.bias.empty() ? 0 : static_cast<double>(map.bias.as<float>()[o]);
  for (std::int64_t i = 0; i < map.n_in; ++i)
    y += x[static_cast<std::size_t>(i)] * static_cast<double>(map.weight.row<float>(o)[i]);
  return y;
}

double gated(double gate, double x) { return x / (1 + std::exp(-gate)); }

Row norm_of(const Row& x, const Norm& norm) {
  std::vector<float> y(x.size());
  reference::normalise(x, norm, {}, y.data());
  return {y.begin(), y.end()};
}

}  // namespace

void triangle_product_ref(const TriangleProduct& op) {
  const std::int64_t n = op.z.shape[0], c = op.z.shape[2], d = op.map_out->n_in;
  std::vector<Row> rows, sides;  // of each pair: its norm, a and b
  for (std::int64_t pair = 0; pair < n * n; ++pair) {
    const float* const z = op.z.as<float>() + pair * c;
    const Row x = norm_of(Row(z, z + c), op.norm_in);
    const double seen = op.mask.empty() ? 1 : static_cast<double>(op.mask.as<float>()[pair]);
    Row side;
    for (std::int64_t o = 0; o < 2 * d; ++o)
      side.push_back(seen *
                     gated(map_at(*op.projections, x, 2 * d + o), map_at(*op.projections, x, o)));
    rows.push_back(x);
    sides.push_back(side);
  }
  const auto at = [&](std::int64_t i, std::int64_t j) -> const Row& {
    return sides[static_cast<std::size_t>(i * n + j)];
  };
  const auto channels = static_cast<std::size_t>(d);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      Row sums(channels);
      for (std::int64_t k = 0; k < n; ++k) {
        const Row& a = op.outgoing ? at(i, k) : at(k, i);
        const Row& b = op.outgoing ? at(j, k) : at(k, j);
        for (std::size_t e = 0; e < channels; ++e) sums[e] += a[e] * b[channels + e];
      }
      const std::int64_t pair = i * n + j;
      const Row x = norm_of(sums, op.norm_out);
      for (std::int64_t o = 0; o < c; ++o) {
        const double gate =
            map_at(*op.projections, rows[static_cast<std::size_t>(pair)], 4 * d + o);
        double y = gated(gate, map_at(*op.map_out, x, o));
        if (!op.residual.empty()) y += static_cast<double>(op.residual.row<float>(pair)[o]);
        op.out.row<float>(pair)[o] = static_cast<float>(y);
      }
    }
  }
}

}  // namespace biogpu::ops
