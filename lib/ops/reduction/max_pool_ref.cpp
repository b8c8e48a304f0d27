#include <algorithm>
#include <cmath>

#include "lib/ops/reduction/max_pool.hpp"
#include "lib/ops/reference/outputs.hpp"

namespace biogpu::ops {
namespace {

// Of two numbers, or what is none.
float larger(float x, float y) { return y > x || std::isnan(y) ? y : x; }

}  // namespace

void max_pool_ref(const MaxPool& op) {
  for (std::int64_t s = 0; s < op.out_segments->n_segments; ++s)
    for (std::int64_t q = 0; q < op.out_segments->length(s); ++q)
      for (std::int64_t i = 0; i < op.x.shape[1]; ++i) {
        const std::int64_t first = op.segments->begin(s) + q * op.size;
        float y = op.x.row<float>(first)[i];
        for (std::int64_t t = first; t < std::min(first + op.size, op.segments->end(s)); ++t)
          y = larger(y, op.x.row<float>(t)[i]);
        reference::store(op.out, op.activated, op.out_segments->begin(s) + q, i, y);
      }
}

}  // namespace biogpu::ops
