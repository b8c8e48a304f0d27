#include <algorithm>

#include "lib/ops/gather/gather_rows.hpp"
#include "lib/ops/reference/real.hpp"

namespace biogpu::ops {

void gather_rows_ref(const GatherRows& op) {
  const auto* const rows = op.rows.as<std::int32_t>();
  reference::with_real(op.x, [&](auto real) {
    using T = decltype(real);
    for (std::int64_t r = 0; r < op.out.shape[0]; ++r) {
      if (rows != nullptr && rows[r] < 0) {
        std::fill_n(op.out.row<T>(r), op.x.shape[1], T{0});
      } else {
        std::copy_n(op.x.row<T>(rows != nullptr ? rows[r] : r), op.x.shape[1], op.out.row<T>(r));
      }
    }
  });
}

}  // namespace biogpu::ops
