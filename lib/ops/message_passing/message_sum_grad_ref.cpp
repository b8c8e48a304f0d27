#include <vector>

#include "lib/ops/cartesian_tensor/tensor_parts.hpp"
#include "lib/ops/message_passing/message_sum_grad.hpp"
#include "lib/ops/reference/real.hpp"

namespace biogpu::ops {
namespace {

// By the definition: what each number of the forward sum hands back, without the reverse edges.
template <class T>
void grad_of_messages(const MessageSumGrad& op) {
  const std::int64_t n_numbers = op.x.shape[0], n_atoms = op.x.shape[1],
                     n_parts = op.weights.shape[1], d = op.x.shape[2];
  const auto* const starts = op.edges->starts.as<std::int32_t>();
  std::vector<double> d_x(static_cast<std::size_t>(op.x.size()));
  std::vector<double> d_weights(static_cast<std::size_t>(op.weights.size()));
  for (std::int64_t i = 0; i < n_atoms; ++i)
    for (std::int64_t e = starts[i]; e < starts[i + 1]; ++e)
      for (std::int64_t c = 0; c < n_numbers; ++c)
        for (std::int64_t f = 0; f < d; ++f) {
          const int part = part_of(static_cast<int>(c), static_cast<int>(n_numbers));
          const std::int64_t j = op.edges->neighbours.as<std::int32_t>()[e];
          const std::int64_t weight = (e * n_parts + part) * d + f;
          const std::int64_t source = (c * n_atoms + j) * d + f;
          const double g = static_cast<double>(op.d_out.as<T>()[(c * n_atoms + i) * d + f]);
          d_weights[static_cast<std::size_t>(weight)] +=
              g * static_cast<double>(op.x.as<T>()[source]);
          d_x[static_cast<std::size_t>(source)] +=
              g * static_cast<double>(op.weights.as<T>()[weight]);
        }
  for (std::size_t k = 0; k < d_x.size(); ++k) op.d_x.as<T>()[k] = static_cast<T>(d_x[k]);
  const std::int64_t n_edges = starts[op.edges->n_atoms()];
  for (std::size_t k = 0; k < static_cast<std::size_t>(n_edges * n_parts * d); ++k)
    op.d_weights.as<T>()[k] = static_cast<T>(d_weights[k]);
}

}  // namespace

void message_sum_grad_ref(const MessageSumGrad& op) {
  reference::with_real(op.x, [&](auto real) { grad_of_messages<decltype(real)>(op); });
}

}  // namespace biogpu::ops
