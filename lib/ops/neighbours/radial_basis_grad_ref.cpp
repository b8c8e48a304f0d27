#include "lib/ops/neighbours/radial_basis_grad.hpp"

#include <cmath>

#include "lib/ops/neighbours/radial_terms.hpp"
#include "lib/ops/reference/real.hpp"

namespace biogpu::ops {

void radial_basis_grad_ref(const RadialBasisGrad& op) {
  reference::with_real(op.distance, [&](auto real) {
    using T = decltype(real);
    for (std::int64_t e = 0; e < op.d_out.shape[0]; ++e) {
      const RadialTerms<double> terms(static_cast<double>(op.distance.as<T>()[e]), op.cutoff_lower,
                                      op.cutoff_upper);
      double sum = 0;
      for (std::int64_t k = 0; k < op.d_out.shape[1]; ++k) {
        const double off = terms.scaled - static_cast<double>(op.means.as<T>()[k]);
        const double beta = op.betas.as<T>()[k];
        const double slope =
            (terms.cutoff_slope + beta * off * terms.scaled_factor) * std::exp(-beta * off * off);
        sum += static_cast<double>(op.d_out.row<T>(e)[k]) * slope;
      }
      op.d_distance.as<T>()[e] = static_cast<T>(sum);
    }
  });
}

}  // namespace biogpu::ops
