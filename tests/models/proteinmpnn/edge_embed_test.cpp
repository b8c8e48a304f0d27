#include "lib/models/proteinmpnn/ops/edge_embed.hpp"

#include "tests/models/proteinmpnn/graph_bed.hpp"

using namespace biogpu;
using test::Bed;
using test::BlockUse;
using test::LinearPair;
using test::Pair;

namespace {

constexpr std::uint8_t kPairs[][2] = {{1, 1}, {0, 2}, {2, 0}, {1, 2}, {0, 0}};

// Axes of a node: a random rotation.
std::vector<float> frames_of(const Pair& random, std::int64_t n) {
  std::vector<float> frames;
  for (std::int64_t i = 0; i < n; ++i) {
    double a[3], b[3], dot = 0, length_a = 0, length_b = 0;
    for (int x = 0; x < 3; ++x) {
      a[x] = static_cast<double>(random.host.row<float>(i)[x]);
      length_a += a[x] * a[x];
    }
    for (int x = 0; x < 3; ++x) {
      a[x] /= std::sqrt(length_a);
      b[x] = static_cast<double>(random.host.row<float>(i)[3 + x]);
      dot += a[x] * b[x];
    }
    for (int x = 0; x < 3; ++x) {
      b[x] -= dot * a[x];
      length_b += b[x] * b[x];
    }
    for (double& x : b) x /= std::sqrt(length_b);
    for (const double x : {a[0], a[1], a[2], b[0], b[1], b[2], a[1] * b[2] - a[2] * b[1],
                           a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]})
      frames.push_back(static_cast<float>(x));
  }
  return frames;
}

}  // namespace

TEST_CASE("proteinmpnn.edge_embed: distances, positions and orientations", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const bool oriented = GENERATE(false, true);
  const std::int64_t d = bed.is_cpu() ? GENERATE(32, 128) : 128, k = oriented ? 9 : 48, n = 10;
  const int n_pairs = static_cast<int>(std::size(kPairs));
  const test::GraphPair graph(bed, n, k, n);
  const Pair points = bed.random({n, 3, 3}, 6, false), random = bed.random({n, 6}, 1, false);
  const Pair frames = bed.pair({n, 9}, frames_of(random, n), false);
  const test::Indices numbers = bed.indices({0, 1, 40, 7, 90, 5, 6, 41, 2, 3});
  const test::Indices chains = bed.indices({0, 0, 0, 0, 0, 1, 1, 1, 2, 2});
  const Pair distances = bed.pair(
      {n, k},
      [&] {
        std::vector<float> values(static_cast<std::size_t>(n * k));
        for (std::size_t i = 0; i < values.size(); ++i)
          values[i] = 0.3f * static_cast<float>(i % 90);
        return values;
      }(),
      false);
  const std::int64_t n_in = 16 * n_pairs + (oriented ? 7 : 0);
  const LinearPair features = test::block_linear(bed, d, n_in, BlockUse::edges, false);
  const LinearPair linear = test::block_linear(bed, d, d, BlockUse::edges, true);
  const Pair positions = bed.random({models::proteinmpnn::EdgeEmbed::kClasses, d}, 1, false);
  const test::NormPair norm = test::block_norm(bed, d);
  // Slots behind a node's edges keep what they hold.
  const Pair normalised = bed.random({n, k, d}, 1, false), out = bed.random({n, k, d}, 1, false);
  const auto run = [&](tensor::Context& context) {
    const bool is_device = &context == &bed.device();
    const auto of = [&](const auto& both) { return is_device ? both.device : both.host; };
    models::proteinmpnn::EdgeEmbed op;
    op.points = of(points);
    if (oriented) op.frames = of(frames);
    op.numbers = of(numbers);
    op.chains = of(chains);
    op.rows = test::as_table(of(graph.senders), k);
    op.distances = of(distances);
    op.counts = of(graph.counts);
    op.pairs = kPairs;
    op.n_pairs = n_pairs;
    op.features = is_device ? &features.device : &features.host;
    op.positions = of(positions);
    op.norm = of(norm);
    op.normalised = of(normalised);
    op.linear = is_device ? &linear.device : &linear.host;
    op.out = of(out);
    models::proteinmpnn::edge_embed(context, op);
  };
  run(bed.reference());
  run(bed.device());
  CHECK(bed.difference(normalised) < 2e-5);
  CHECK(bed.difference(out) < 2e-5);
}
