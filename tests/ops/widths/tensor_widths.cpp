#include "lib/ops/cartesian_tensor/tensor_norm.hpp"
#include "lib/ops/cartesian_tensor/tensor_norm_grad.hpp"
#include "lib/ops/cartesian_tensor/tensor_product.hpp"
#include "lib/ops/cartesian_tensor/tensor_product_grad.hpp"
#include "lib/ops/message_passing/message_sum.hpp"
#include "lib/ops/message_passing/message_sum_grad.hpp"
#include "tests/ops/neighbours/edge_bed.hpp"
#include "tests/ops/widths/sweep.hpp"

namespace biogpu::test {
namespace {

constexpr double kBound = 2e-5;
constexpr std::int64_t kAtoms = 21;

void sweep_tensor_norm(Bed& bed, std::int64_t d) {
  const Pair x = bed.random({9, kAtoms, d}, 1, false), out = bed.unset({kAtoms, 3, d}, false);
  compare(bed, {{out, kBound}}, [&](Context& context, const auto& of) {
    ops::tensor_norm(context, {of(x), of(out)});
  });
}

void sweep_tensor_norm_grad(Bed& bed, std::int64_t d) {
  const Pair x = bed.random({9, kAtoms, d}, 1, false), d_out = bed.random({kAtoms, 3, d}, 1, false);
  const Pair d_x = bed.unset({9, kAtoms, d}, false);
  compare(bed, {{d_x, kBound}}, [&](Context& context, const auto& of) {
    ops::tensor_norm_grad(context, {of(x), of(d_out), of(d_x)});
  });
}

void sweep_tensor_product(Bed& bed, std::int64_t d) {
  const Pair y = bed.random({9, kAtoms, d}, 1, false), m = bed.random({9, kAtoms, d}, 1, false);
  const Pair out = bed.unset({9, kAtoms, d}, false);
  compare(bed, {{out, kBound}}, [&](Context& context, const auto& of) {
    ops::tensor_product(context, {of(y), of(m), {}, false, of(out)});
  });
}

void sweep_tensor_product_grad(Bed& bed, std::int64_t d) {
  const Pair y = bed.random({9, kAtoms, d}, 1, false), m = bed.random({9, kAtoms, d}, 1, false),
             d_out = bed.random({9, kAtoms, d}, 1, false);
  const Pair d_y = bed.unset({9, kAtoms, d}, false), d_m = bed.unset({9, kAtoms, d}, false);
  compare(bed, {{d_y, kBound}, {d_m, kBound}}, [&](Context& context, const auto& of) {
    ops::tensor_product_grad(context, {of(y), of(m), {}, false, of(d_out), of(d_y), of(d_m)});
  });
}

void sweep_message_sum(Bed& bed, std::int64_t d) {
  const Molecules atoms = make_molecules(bed, {1, 12, 8}, 6);
  const EdgesPair edges = list_edges(bed, atoms, 4.5f, true);
  const Pair x = bed.random({9, kAtoms, d}, 1, false);
  const Pair weights = bed.random({edges.host.capacity(), 3, d}, 1, false);
  const Pair out = bed.unset({9, kAtoms, d}, false);
  compare(bed, {{out, kBound}}, [&](Context& context, const auto& of) {
    ops::message_sum(context, {of(x), of(weights), &of(edges), of(out)});
  });
}

void sweep_message_sum_grad(Bed& bed, std::int64_t d) {
  const Molecules atoms = make_molecules(bed, {1, 12, 8}, 6);
  const EdgesPair edges = list_edges(bed, atoms, 4.5f, true);
  const std::int64_t n_edges = edges.host.capacity();
  const Pair x = bed.random({9, kAtoms, d}, 1, false), d_out = bed.random({9, kAtoms, d}, 1, false);
  const Pair weights = bed.random({n_edges, 3, d}, 1, false);
  const Pair d_weights = bed.unset({n_edges, 3, d}, false), d_x = bed.unset({9, kAtoms, d}, false);
  compare(bed, {{d_weights, kBound}, {d_x, kBound}}, [&](Context& context, const auto& of) {
    ops::message_sum_grad(context,
                          {of(x), of(weights), &of(edges), of(d_out), of(d_weights), of(d_x)});
  });
}

}  // namespace

std::vector<WidthSweep> tensor_sweeps() {
  return {
      {"tensor_norm", sweep_tensor_norm},       {"tensor_norm_grad", sweep_tensor_norm_grad},
      {"tensor_product", sweep_tensor_product}, {"tensor_product_grad", sweep_tensor_product_grad},
      {"message_sum", sweep_message_sum},       {"message_sum_grad", sweep_message_sum_grad}};
}

}  // namespace biogpu::test
