#include <cmath>

#include "lib/models/tensornet/ops/edge_ops.hpp"
#include "lib/models/tensornet/ops/table_lookup_ref.hpp"
#include "lib/ops/reference/real.hpp"

namespace biogpu::models::tensornet {
namespace {

using ops::reference::with_real;

template <class T>
void look_up(const RadialTable& op) {
  const std::int64_t n = op.out.shape[1];
  for (std::int64_t e = 0; e < op.out.shape[0]; ++e) {
    const TableLookupRef at(static_cast<double>(op.distance.as<T>()[e]),
                            static_cast<double>(op.lower), static_cast<double>(op.upper),
                            op.table.shape[0]);
    const T* const a = op.table.row<T>(at.interval);
    for (std::int64_t c = 0; c < n; ++c) op.out.row<T>(e)[c] = static_cast<T>(at.value(a, c, n));
  }
}

template <class T>
void add_slopes(const RadialTableGrad& op) {
  const std::int64_t n = op.d_out.shape[1];
  for (std::int64_t e = 0; e < op.d_out.shape[0]; ++e) {
    const TableLookupRef at(static_cast<double>(op.distance.as<T>()[e]),
                            static_cast<double>(op.lower), static_cast<double>(op.upper),
                            op.table.shape[0]);
    const T* const a = op.table.row<T>(at.interval);
    double sum = 0;
    for (std::int64_t c = 0; c < n; ++c)
      sum += static_cast<double>(op.d_out.row<T>(e)[c]) * at.slope(a, c, n);
    const double before = op.previous.empty() ? 0 : static_cast<double>(op.previous.as<T>()[e]);
    op.d_distance.as<T>()[e] = static_cast<T>(before + sum);
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

void edge_virial_ref(const EdgeVirial& op) {
  with_real(op.out, [&](auto real) { add_virials<decltype(real)>(op); });
}

}  // namespace biogpu::models::tensornet
