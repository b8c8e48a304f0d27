#include "lib/ops/cartesian_tensor/eigen3.hpp"
#include "lib/ops/cartesian_tensor/jacobi3.hpp"
#include "lib/ops/cpu/cpu_context.hpp"

namespace biogpu::ops {

void eigen3_cpu(CpuContext& context, const Eigen3& op) {
  context.for_rows(op.x.shape[0], [&](std::int64_t r, std::int64_t end) {
    for (; r < end; ++r) {
      const EigenSystem3 system = eigen_system(op.x.row<float>(r));
      for (int i = 0; i < 3; ++i) {
        if (!op.values.empty()) op.values.row<float>(r)[i] = static_cast<float>(system.a[i][i]);
        if (op.vectors.empty()) continue;
        for (int k = 0; k < 3; ++k)
          op.vectors.row<float>(r)[3 * i + k] = static_cast<float>(system.v[i][k]);
      }
    }
  });
}

}  // namespace biogpu::ops
