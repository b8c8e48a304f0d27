#include <algorithm>
#include <cmath>

#include "lib/models/tensornet/ops/edge_ops.hpp"
#include "lib/ops/reference/real.hpp"

namespace biogpu::models::tensornet {
namespace {

using ops::reference::with_real;

// Where a distance is in a table; inside is false where functions are 0.
struct ExactPlace {
  bool inside;
  std::int64_t interval;
  double t;      // 0 to 1
  double scale;  // intervals in one unit of distance

  ExactPlace(double distance, double lower, double upper, std::int64_t n_intervals)
      : inside(distance >= lower), scale(static_cast<double>(n_intervals) / (upper - lower)) {
    const double at = (distance - lower) * scale;
    interval = std::clamp<std::int64_t>(static_cast<std::int64_t>(at), 0, n_intervals - 1);
    t = at - static_cast<double>(interval);
  }
};

template <class T>
void look_up(const RadialTable& op) {
  const std::int64_t n = op.out.shape[1];
  for (std::int64_t e = 0; e < op.out.shape[0]; ++e) {
    const ExactPlace at(static_cast<double>(op.distance.as<T>()[e]), static_cast<double>(op.lower),
                        static_cast<double>(op.upper), op.table.shape[0]);
    const T* const a = op.table.row<T>(at.interval);
    for (std::int64_t c = 0; c < n; ++c)
      op.out.row<T>(e)[c] =
          at.inside ? static_cast<T>(
                          a[c] + at.t * (a[n + c] + at.t * (a[2 * n + c] + at.t * a[3 * n + c])))
                    : T{0};
  }
}

template <class T>
void add_slopes(const RadialTableGrad& op) {
  const std::int64_t n = op.d_out.shape[1];
  for (std::int64_t e = 0; e < op.d_out.shape[0]; ++e) {
    const ExactPlace at(static_cast<double>(op.distance.as<T>()[e]), static_cast<double>(op.lower),
                        static_cast<double>(op.upper), op.table.shape[0]);
    const T* const a = op.table.row<T>(at.interval);
    double sum = 0;
    for (std::int64_t c = 0; c < n && at.inside; ++c)
      sum += static_cast<double>(op.d_out.row<T>(e)[c]) *
             (a[n + c] + at.t * (2.0 * a[2 * n + c] + at.t * 3.0 * a[3 * n + c]));
    const double before = op.previous.empty() ? 0 : static_cast<double>(op.previous.as<T>()[e]);
    op.d_distance.as<T>()[e] = static_cast<T>(before + sum * at.scale);
  }
}

template <class T>
void scale_pairs(const PairScale& op) {
  const std::int64_t n_parts = op.x.shape[1], d = op.x.shape[2];
  const auto* const types = op.types.as<std::int32_t>();
  const std::int64_t n_edges = op.edges->starts.as<std::int32_t>()[op.edges->n_atoms()];
  for (std::int64_t e = 0; e < n_edges; ++e) {
    const T* const of_receiver =
        op.receiver.row<T>(types[op.edges->receivers.as<std::int32_t>()[e]]);
    const T* const of_neighbour =
        op.neighbour.row<T>(types[op.edges->neighbours.as<std::int32_t>()[e]]);
    for (std::int64_t p = 0; p < n_parts; ++p)
      for (std::int64_t f = 0; f < d; ++f) {
        const std::int64_t at = (e * n_parts + p) * d + f;
        op.out.as<T>()[at] =
            static_cast<T>(static_cast<double>(op.x.as<T>()[at]) *
                           (static_cast<double>(of_receiver[f]) + of_neighbour[f]));
      }
  }
}

template <class T>
void add_virials(const EdgeVirial& op) {
  const auto* const starts = op.edges->starts.as<std::int32_t>();
  for (std::int64_t i = 0; i < op.out.shape[0]; ++i) {
    double sums[9] = {};
    for (std::int64_t e = starts[i]; e < starts[i + 1]; ++e) {
      const T* const r = op.edges->displacement.as<T>() + 3 * e;
      const double distance = op.edges->distance.as<T>()[e];
      for (int k = 0; k < 3; ++k)
        for (int l = 0; l < 3; ++l) {
          double g = op.d_displacement.empty()
                         ? 0
                         : static_cast<double>(op.d_displacement.as<T>()[3 * e + l]);
          if (distance > 0)
            g += static_cast<double>(op.d_distance.as<T>()[e]) * static_cast<double>(r[l]) /
                 distance;
          sums[3 * k + l] += static_cast<double>(r[k]) * g;
        }
    }
    for (int k = 0; k < 9; ++k) op.out.as<T>()[9 * i + k] = static_cast<T>(sums[k]);
  }
}

}  // namespace

void radial_table_ref(const RadialTable& op) {
  with_real(op.out, [&](auto real) { look_up<decltype(real)>(op); });
}

void radial_table_grad_ref(const RadialTableGrad& op) {
  with_real(op.d_out, [&](auto real) { add_slopes<decltype(real)>(op); });
}

void pair_scale_ref(const PairScale& op) {
  with_real(op.x, [&](auto real) { scale_pairs<decltype(real)>(op); });
}

void edge_virial_ref(const EdgeVirial& op) {
  with_real(op.out, [&](auto real) { add_virials<decltype(real)>(op); });
}

}  // namespace biogpu::models::tensornet
