#include "lib/ops/cartesian_tensor/tensor_parts.hpp"
#include "lib/ops/message_passing/message_sum.hpp"
#include "lib/ops/reference/real.hpp"

namespace biogpu::ops {
namespace {

template <class T>
void sum_messages(const MessageSum& op) {
  const std::int64_t n_numbers = op.x.shape[0], n_atoms = op.x.shape[1],
                     n_parts = op.weights.shape[1], d = op.x.shape[2];
  const auto* const starts = op.edges->starts.as<std::int32_t>();
  for (std::int64_t i = 0; i < n_atoms; ++i)
    for (std::int64_t c = 0; c < n_numbers; ++c)
      for (std::int64_t f = 0; f < d; ++f) {
        const int part = part_of(static_cast<int>(c), static_cast<int>(n_numbers));
        double sum = 0;
        for (std::int64_t e = starts[i]; e < starts[i + 1]; ++e) {
          const std::int64_t j = op.edges->neighbours.as<std::int32_t>()[e];
          sum += static_cast<double>(op.weights.as<T>()[(e * n_parts + part) * d + f]) *
                 static_cast<double>(op.x.as<T>()[(c * n_atoms + j) * d + f]);
        }
        op.out.as<T>()[(c * n_atoms + i) * d + f] = static_cast<T>(sum);
      }
}

}  // namespace

void message_sum_ref(const MessageSum& op) {
  reference::with_real(op.x, [&](auto real) { sum_messages<decltype(real)>(op); });
}

}  // namespace biogpu::ops
