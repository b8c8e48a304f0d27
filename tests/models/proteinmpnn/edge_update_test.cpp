#include "lib/models/proteinmpnn/ops/edge_update.hpp"

#include "lib/core/error.hpp"
#include "lib/models/proteinmpnn/ops/edge_embed.hpp"
#include "lib/models/proteinmpnn/ops/edge_message.hpp"
#include "tests/models/proteinmpnn/graph_bed.hpp"

using namespace biogpu;
using test::Bed;
using test::BlockUse;
using test::LinearPair;
using test::Pair;

TEST_CASE("proteinmpnn.edge_update: new edges from their ends", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t d = bed.is_cpu() ? GENERATE(32, 128) : 128, k = GENERATE(7, 48), n = 8;
  const test::GraphPair graph(bed, n, k, n);
  const LinearPair edge = test::block_linear(bed, d, d, BlockUse::edges, false);
  const LinearPair middle = test::block_linear(bed, d, d, BlockUse::edges, true);
  const LinearPair last = test::block_linear(bed, d, d, BlockUse::edges, true);
  const test::NormPair norm = test::block_norm(bed, d);
  const Pair edges = bed.random({n, k, d}, 1, false), ends = bed.random({n, 3 * d}, 1, false);
  const std::vector<float> before = edges.values;
  models::proteinmpnn::edge_update(
      bed.reference(), {edges.host, graph.counts.host, ends.host.slice(1, d, 2 * d),
                        ends.host.slice(1, 2 * d, 3 * d), test::as_table(graph.senders.host, k),
                        &edge.host, &middle.host, &last.host, norm.host});
  models::proteinmpnn::edge_update(
      bed.device(), {edges.device, graph.counts.device, ends.device.slice(1, d, 2 * d),
                     ends.device.slice(1, 2 * d, 3 * d), test::as_table(graph.senders.device, k),
                     &edge.device, &middle.device, &last.device, norm.device});
  CHECK(bed.difference(edges) < 1e-5);
  // What is behind a node's edges stays: node 2 has none.
  const std::vector<float> after = bed.fetch(edges.device);
  const auto first = static_cast<std::ptrdiff_t>(2 * k * d),
             size = static_cast<std::ptrdiff_t>(k * d);
  CHECK(std::equal(after.begin() + first, after.begin() + first + size, before.begin() + first));
}

TEST_CASE("proteinmpnn.edge_update: operations in blocks refuse other widths", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t width = GENERATE(1, 31, 33, 48);
  const tensor::Tensor rows(nullptr, tensor::DType::f32, {0, width}),
      edges(nullptr, tensor::DType::f32, {0, 4, width});
  models::proteinmpnn::EdgeEmbed embed;
  embed.out = edges;
  CHECK_THROWS_AS(models::proteinmpnn::edge_embed(bed.device(), embed), Error);
  models::proteinmpnn::EdgeMessage message;
  message.out = rows;
  CHECK_THROWS_AS(models::proteinmpnn::edge_message(bed.device(), message), Error);
  models::proteinmpnn::EdgeUpdate update;
  update.edges = edges;
  CHECK_THROWS_AS(models::proteinmpnn::edge_update(bed.device(), update), Error);
}
