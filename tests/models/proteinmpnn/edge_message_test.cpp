#include "lib/models/proteinmpnn/ops/edge_message.hpp"

#include "tests/models/proteinmpnn/graph_bed.hpp"

using namespace biogpu;
using test::Bed;
using test::BlockUse;
using test::LinearPair;
using test::Pair;

namespace {

struct Layers {
  LinearPair edge, middle, last, in, out, next, wide;
  test::NormPair before, after;

  Layers(Bed& bed, std::int64_t d)
      : edge(test::block_linear(bed, d, d, BlockUse::edges, false)),
        middle(test::block_linear(bed, d, d, BlockUse::edges, true)),
        last(test::block_linear(bed, d, d, BlockUse::node, true)),
        in(test::block_linear(bed, 4 * d, d, BlockUse::node, true)),
        out(test::block_linear(bed, d, 4 * d, BlockUse::node, true)),
        next(test::block_linear(bed, 2 * d, d, BlockUse::node, true)),
        wide(test::block_linear(bed, 6 * d, d, BlockUse::node, true)),
        before(test::block_norm(bed, d)),
        after(test::block_norm(bed, d)) {}
};

// The operation of one side: the reference's, or the device's.
models::proteinmpnn::EdgeMessage layers_of(const Layers& layers, bool is_device) {
  const auto map = [&](const LinearPair& pair) { return is_device ? &pair.device : &pair.host; };
  const auto norm = [&](const test::NormPair& pair) { return is_device ? pair.device : pair.host; };
  models::proteinmpnn::EdgeMessage op;
  op.middle = map(layers.middle);
  op.update = {map(layers.last), map(layers.in), map(layers.out), norm(layers.before),
               norm(layers.after)};
  return op;
}

}  // namespace

TEST_CASE("proteinmpnn.edge_message: a layer of an encoder", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t d = bed.is_cpu() ? GENERATE(64, 128) : 128, k = GENERATE(5, 48), n = 14;
  const test::GraphPair graph(bed, n, k, n);
  const Layers layers(bed, d);
  const bool starts = k == 5;  // from nodes that are 0, whose parts are one row for all
  const Pair edges = bed.random({n, k, d}, 1, false), ends = bed.random({n, 2 * d}, 1, false);
  const Pair h = bed.random({n, d}, 1, false), out = bed.unset({n, d}, false);
  const Pair next = bed.unset({n, 2 * d}, false), wide = bed.unset({n, 6 * d}, false);
  const auto run = [&](tensor::Context& context) {
    const bool is_device = &context == &bed.device();
    const auto of = [&](const auto& both) { return is_device ? both.device : both.host; };
    models::proteinmpnn::EdgeMessage op = layers_of(layers, is_device);
    op.edges = of(edges);
    op.edge = is_device ? &layers.edge.device : &layers.edge.host;
    op.counts = of(graph.counts);
    op.receiver = of(ends).slice(1, 0, d);
    op.sender = of(ends).slice(1, d, 2 * d);
    if (starts) op.receiver.stride[0] = op.sender.stride[0] = 0;
    op.senders = test::as_table(of(graph.senders), k);
    op.present = of(graph.present);
    op.only_present = true;
    if (!starts) op.h = of(h);
    op.out = of(out);
    op.next[0] = {is_device ? &layers.next.device : &layers.next.host, {}, {}, of(next)};
    op.next[1] = {is_device ? &layers.wide.device : &layers.wide.host, {}, {}, of(wide)};
    models::proteinmpnn::edge_message(context, op);
  };
  run(bed.reference());
  run(bed.device());
  CHECK(bed.difference(out) < 1e-5);
  CHECK(bed.difference(next) < 1e-5);
  CHECK(bed.difference(wide) < 1e-5);
  for (std::int64_t c = 0; c < d; ++c) REQUIRE(out.host.row<float>(3)[c] == 0);
}

TEST_CASE("proteinmpnn.edge_message: edges of other rows, multiplied already", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t d = bed.is_cpu() ? GENERATE(32, 128) : 128, k = 30, n = 9, n_rows = 6;
  const test::GraphPair graph(bed, n, k, n_rows + n);
  const Layers layers(bed, d);
  const Pair edges = bed.random({n_rows, k, 3 * d}, 1, false);
  const Pair ends = bed.random({n_rows + n, 4 * d}, 1, false);
  const Pair h = bed.random({n, d}, 1, false), table = bed.random({5, 2 * d}, 1, false);
  const Pair next = bed.unset({n, 4 * d}, false);
  std::vector<std::int32_t> rows, ids;
  for (std::int32_t t = 0; t < n; ++t) {
    rows.push_back(t * 5 % 6);
    ids.push_back(t * 3 % 5);
  }
  const test::Indices edge_rows = bed.indices(rows), next_ids = bed.indices(ids);
  const auto run = [&](tensor::Context& context) {
    const bool is_device = &context == &bed.device();
    const auto of = [&](const auto& both) { return is_device ? both.device : both.host; };
    models::proteinmpnn::EdgeMessage op = layers_of(layers, is_device);
    op.edges = of(edges).slice(2, d, 2 * d);
    op.edge_rows = of(edge_rows);
    op.counts = of(graph.counts).slice(0, 0, n_rows);
    op.receiver = of(ends).slice(0, n_rows, n_rows + n).slice(1, 0, d);
    op.sender = of(ends).slice(1, d, 2 * d);
    op.senders = test::as_table(of(graph.senders), k);
    op.present = of(graph.present).slice(0, 0, n_rows);
    op.h = op.out = of(h);  // in place
    op.next[1] = {is_device ? &layers.next.device : &layers.next.host, of(table), of(next_ids),
                  of(next).slice(1, 2 * d, 4 * d)};
    models::proteinmpnn::edge_message(context, op);
  };
  run(bed.reference());
  run(bed.device());
  CHECK(bed.difference(h) < 1e-5);
  CHECK(bed.difference(next) < 1e-5);
}
