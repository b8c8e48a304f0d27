#include <algorithm>

#include "lib/ops/gather/gather_rows.hpp"
#include "lib/ops/reference/real.hpp"

namespace biogpu::ops {

void gather_rows_ref(const GatherRows& op) {
  const auto* const rows = op.rows.as<std::int32_t>();
  reference::with_real(op.x, [&](auto real) {
    using T = decltype(real);
    for (std::int64_t r = 0; r < op.out.shape[0]; ++r) {
      const std::int64_t source = rows != nullptr ? rows[r] : r;
      const bool is_more = !op.more.empty() && source >= op.x.shape[0];
      if (source < 0)
        std::fill_n(op.out.row<T>(r), op.x.shape[1], T{0});
      else
        std::copy_n(is_more ? op.more.row<T>(source - op.x.shape[0]) : op.x.row<T>(source),
                    op.x.shape[1], op.out.row<T>(r));
    }
  });
}

}  // namespace biogpu::ops
