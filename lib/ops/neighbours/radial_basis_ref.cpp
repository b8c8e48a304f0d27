#include "lib/ops/neighbours/radial_basis.hpp"

#include <cmath>

#include "lib/ops/neighbours/radial_terms.hpp"
#include "lib/ops/reference/real.hpp"

namespace biogpu::ops {

void radial_basis_ref(const RadialBasis& op) {
  reference::with_real(op.distance, [&](auto real) {
    using T = decltype(real);
    for (std::int64_t e = 0; e < op.out.shape[0]; ++e) {
      const RadialTerms<double> terms(static_cast<double>(op.distance.as<T>()[e]), op.cutoff_lower,
                                      op.cutoff_upper);
      for (std::int64_t k = 0; k < op.out.shape[1]; ++k) {
        const double off = terms.scaled - static_cast<double>(op.means.as<T>()[k]);
        const double beta = op.betas.as<T>()[k];
        op.out.row<T>(e)[k] = static_cast<T>(terms.cutoff * std::exp(-beta * off * off));
      }
    }
  });
}

}  // namespace biogpu::ops
