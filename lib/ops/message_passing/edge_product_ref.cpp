#include "lib/ops/message_passing/edge_product.hpp"
#include "lib/ops/reference/element.hpp"

namespace biogpu::ops {

void edge_product_ref(const EdgeProduct& op) {
  for (std::int64_t e = 0; e < op.out.shape[0]; ++e) {
    const std::int64_t x = op.sources.as<std::int32_t>()[e] * op.x.stride[0],
                       turns = e * op.turns.stride[0], weights = e * op.weights.stride[0];
    for (std::int32_t o = 0; o < op.paths->n_outputs; ++o) {
      const EdgePaths::Output& to = op.paths->outputs[static_cast<std::size_t>(o)];
      for (std::int64_t v = 0; v < to.n; ++v)
        for (std::int64_t k = 0; k < to.d; ++k) {
          double sum = 0;
          for (std::int32_t p = to.first_path; p < to.first_path + to.n_paths; ++p) {
            const EdgePaths::Path& path = op.paths->paths[static_cast<std::size_t>(p)];
            for (std::int64_t u = 0; u < path.n; ++u) {
              double turned = 0;
              for (std::int64_t i = 0; i < path.d; ++i)
                turned += reference::load(op.x, x + path.begin + u * path.d + i) *
                          reference::load(op.turns, turns + path.turn + i * to.d + k);
              sum += turned *
                     reference::load(op.weights, weights + to.weights + (path.row + u) * to.n + v);
            }
          }
          reference::store(op.out, e * op.out.stride[0] + to.begin + v * to.d + k, sum);
        }
    }
  }
}

}  // namespace biogpu::ops
