#include "lib/ops/message_passing/edge_product.hpp"

#include "lib/core/error.hpp"
#include "tests/ops/op_bed.hpp"
#include "tests/ops/widths/sweep.hpp"

using namespace biogpu;
using ops::EdgePaths;
using test::Bed;
using test::Pair;

namespace {

// Scalars to n scalars and vectors, vectors to both; with one output that has no path.
EdgePaths paths_of(std::int32_t n_scalars, std::int32_t n_vectors, std::int32_t n,
                   std::int32_t n_out_vectors) {
  EdgePaths all;
  all.n_paths = 4;
  all.n_outputs = 3;
  all.paths[0] = {0, n_scalars, 1, 0, 0};
  all.paths[1] = {n_scalars, n_vectors, 3, 1, n_scalars};
  all.paths[2] = {0, n_scalars, 1, 4, 0};
  all.paths[3] = {n_scalars, n_vectors, 3, 7, n_scalars};
  const std::int32_t n_rows = n_scalars + n_vectors;
  all.outputs[0] = {0, n, 1, n_rows, 0, 0, 2};
  all.outputs[1] = {n, n_out_vectors, 3, n_rows, n_rows * n, 2, 2};
  all.outputs[2] = {n + 3 * n_out_vectors, 2, 5, 0, n_rows * (n + n_out_vectors), 4, 0};
  return all;
}

void compare(Bed& bed, const EdgePaths& paths, std::int64_t n_edges, bool operand) {
  const EdgePaths::Output& vectors = paths.outputs[1];
  const std::int64_t width = paths.outputs[2].begin + 10, n_weights = paths.outputs[2].weights;
  const std::int64_t in = paths.paths[1].begin + 3 * std::int64_t{paths.paths[1].n};
  const Pair x = bed.random({9, in}, 1, false), turns = bed.random({n_edges, 16}, 1, false),
             weights = bed.random({n_edges, n_weights}, 1, operand),
             out = bed.unset({n_edges, width}, false);
  std::vector<std::int32_t> rows;
  for (std::int64_t e = 0; e < n_edges; ++e) rows.push_back(static_cast<std::int32_t>(e * 5 % 9));
  const test::Indices sources = bed.indices(rows);
  ops::edge_product(bed.reference(),
                    {x.host, sources.host, turns.host, weights.host, &paths, out.host});
  ops::edge_product(bed.device(),
                    {x.device, sources.device, turns.device, weights.device, &paths, out.device});
  CHECK(bed.difference(out) < 2e-5 * (1 + static_cast<double>(vectors.n_rows) / 50));
}

const test::WidthSweepEntry kSweep("edge_product", [](Bed& bed, std::int64_t width) {
  const auto n = static_cast<std::int32_t>(width);
  compare(bed, paths_of(n, 2, 3, n), 6, true);
});

}  // namespace

TEST_CASE("ops.edge_product: messages of any numbers of copies", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const bool operand = GENERATE(false, true);
  compare(bed, paths_of(48, 10, 48, 10), 12, operand);
  compare(bed, paths_of(1, 1, 1, 1), 1, operand);
  compare(bed, paths_of(7, 0, 130, 129), 5, operand);  // more copies than threads
  compare(bed, paths_of(0, 5, 33, 0), 4, operand);
}

TEST_CASE("ops.edge_product: no edges", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const EdgePaths paths = paths_of(3, 2, 4, 1);
  const Pair x = bed.random({9, 9}, 1, false), turns = bed.random({1, 16}, 1, false),
             weights = bed.random({1, 25}, 1, true), out = bed.unset({1, 17}, false);
  const auto none = [](const tensor::Tensor& rows) { return rows.slice(0, 0, 0); };
  const test::Indices sources = bed.indices({0});
  ops::edge_product(bed.device(), {x.device, none(sources.device), none(turns.device),
                                   none(weights.device), &paths, none(out.device)});
  CHECK(bed.fetch(out.device) == std::vector<float>(17, 7.0f));
}

TEST_CASE("ops.edge_product: paths that do not fit are refused", "[ops]") {
  Bed bed(test::subjects().front());
  const Pair x = bed.random({9, 9}, 1, false), turns = bed.random({2, 16}, 1, false),
             weights = bed.random({2, 25}, 1, true), out = bed.unset({2, 17}, false);
  const test::Indices sources = bed.indices({0, 8});
  const auto run = [&](const EdgePaths& paths) {
    ops::edge_product(bed.device(),
                      {x.device, sources.device, turns.device, weights.device, &paths, out.device});
  };
  const EdgePaths right = paths_of(3, 2, 4, 1);
  CHECK_NOTHROW(run(right));
  EdgePaths wrong = right;
  wrong.n_paths = EdgePaths::kMaxPaths + 1;
  CHECK_THROWS_AS(run(wrong), Error);
  wrong = right;
  wrong.paths[1].begin = 4;
  CHECK_THROWS_AS(run(wrong), Error);
  wrong = right;
  wrong.paths[3].row = 4;
  CHECK_THROWS_AS(run(wrong), Error);
  wrong = right;
  wrong.outputs[1].weights = 21;
  CHECK_THROWS_AS(run(wrong), Error);
  wrong = right;
  wrong.outputs[1].d = EdgePaths::kMaxOrder + 1;
  CHECK_THROWS_AS(run(wrong), Error);
  wrong = right;
  wrong.outputs[0].n_rows = 4;
  CHECK_THROWS_AS(run(wrong), Error);
}
