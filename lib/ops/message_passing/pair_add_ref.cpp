#include "lib/ops/message_passing/pair_add.hpp"

#include "lib/ops/reference/real.hpp"

namespace biogpu::ops {

void pair_add_ref(const PairAdd& op) {
  reference::with_real(op.x, [&](auto real) {
    using T = decltype(real);
    for (std::int64_t e = 0; e < op.edges->starts.as<std::int32_t>()[op.edges->n_atoms()]; ++e)
      for (std::int64_t f = 0; f < op.x.shape[1]; ++f)
        op.out.row<T>(e)[f] = op.x.row<T>(e)[f] +
                              op.receiver.row<T>(op.edges->receivers.as<std::int32_t>()[e])[f] +
                              op.neighbour.row<T>(op.edges->neighbours.as<std::int32_t>()[e])[f];
  });
}

}  // namespace biogpu::ops
