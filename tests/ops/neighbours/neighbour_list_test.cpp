#include "lib/ops/neighbours/neighbour_list.hpp"

#include "tests/ops/neighbours/edge_bed.hpp"

using namespace biogpu;
using test::Bed;
using test::Molecules;
using test::Pair;

namespace {

constexpr float kCutoff = 4.5f;

std::vector<std::int32_t> integers(const tensor::Tensor& host) {
  return {host.as<std::int32_t>(), host.as<std::int32_t>() + host.size()};
}
std::vector<float> numbers(const tensor::Tensor& host) {
  return {host.as<float>(), host.as<float>() + host.size()};
}

void check_same(Bed& bed, const test::EdgesPair& edges) {
  tensor::Context& device = bed.device();
  CHECK(test::fetch_integers(device, edges.device.starts) == integers(edges.host.starts));
  CHECK(test::fetch_integers(device, edges.device.count) == integers(edges.host.count));
  CHECK(test::fetch_integers(device, edges.device.receivers) == integers(edges.host.receivers));
  CHECK(test::fetch_integers(device, edges.device.neighbours) == integers(edges.host.neighbours));
  CHECK(test::fetch_integers(device, edges.device.reverse) == integers(edges.host.reverse));
  CHECK(bed.fetch(edges.device.displacement) == numbers(edges.host.displacement));
  CHECK(bed.fetch(edges.device.distance) == numbers(edges.host.distance));
}

std::vector<float> join(std::vector<float> a, const std::vector<float>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace

TEST_CASE("ops.neighbour_list: the reference's bytes, for molecules of all sizes", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const bool self_pairs = GENERATE(false, true);
  const Molecules m = test::make_molecules(bed, {1, 31, 0, 32, 33, 63, 64, 65, 100}, 10);
  const test::EdgesPair edges = test::list_edges(bed, m, kCutoff, self_pairs, 300);
  CHECK(integers(edges.host.count)[0] > 1000);
  check_same(bed, edges);
}

TEST_CASE("ops.neighbour_list: the nearest image in a box, with and without", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  // Positions reach over several boxes; the second molecule has none.
  const std::vector<float> boxes = join(join(test::kBox, std::vector<float>(9, 0.0f)), test::kBox);
  const Molecules m = test::make_molecules(bed, {70, 50, 3}, 40, boxes);
  const test::EdgesPair edges = test::list_edges(bed, m, kCutoff, false);
  CHECK(integers(edges.host.count)[0] > 500);
  check_same(bed, edges);
}

TEST_CASE("ops.neighbour_list: molecules large enough for cells", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const float side = GENERATE(9.0f, 40.0f);  // one cell alone, and many
  const bool in_box = GENERATE(false, true);
  std::vector<float> boxes;
  if (in_box) boxes = {30, 0, 0, -9, 27, 0, 11, 8, 33};
  const Molecules m = test::make_molecules(bed, {700}, side, boxes);
  const test::EdgesPair edges = test::list_edges(bed, m, 4.0f, false);
  CHECK(integers(edges.host.count)[0] > 700);
  check_same(bed, edges);
}

TEST_CASE("ops.neighbour_list: distances agree with all images in double precision", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const Molecules m = test::make_molecules(bed, {60}, 40, test::kBox);
  const test::EdgesPair edges = test::list_edges(bed, m, kCutoff, false);
  const auto starts = integers(edges.host.starts);
  const auto x = [&](std::int64_t i, int a) {
    return static_cast<double>(m.positions.values[static_cast<std::size_t>(3 * i + a)]);
  };
  std::int64_t n_found = 0;
  double worst = 0;
  for (std::int64_t i = 0; i < 60; ++i)
    for (std::int64_t j = 0; j < 60; ++j) {
      double nearest = HUGE_VAL;
      for (int c = -8; c <= 8; ++c)
        for (int b = -8; b <= 8; ++b)
          for (int a = -8; a <= 8; ++a) {
            const double dx = x(i, 0) - x(j, 0) + a * 12.0 + b * 3.0 - c * 4.0;
            const double dy = x(i, 1) - x(j, 1) + b * 11.0 + c * 2.0;
            const double dz = x(i, 2) - x(j, 2) + c * 13.0;
            nearest = std::min(nearest, std::sqrt(dx * dx + dy * dy + dz * dz));
          }
      if (i == j || nearest >= static_cast<double>(kCutoff)) continue;
      ++n_found;
      for (std::int32_t e = starts[static_cast<std::size_t>(i)];
           e < starts[static_cast<std::size_t>(i) + 1]; ++e)
        if (edges.host.neighbours.as<std::int32_t>()[e] == j)
          worst = test::worse_of(worst, std::fabs(nearest - edges.host.distance.as<float>()[e]));
    }
  CHECK(n_found == integers(edges.host.count)[0]);
  CHECK(worst < 1e-4);  // roundings of positions of several boxes' width
  CHECK(bed.fetch(edges.device.distance) == numbers(edges.host.distance));
}

TEST_CASE("ops.neighbour_list: every edge has its reverse", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const Molecules m = test::make_molecules(bed, {70}, 40, test::kBox);
  const ops::Edges edges = test::list_edges(bed, m, kCutoff, true).device;
  const auto to = test::fetch_integers(bed.device(), edges.receivers),
             from = test::fetch_integers(bed.device(), edges.neighbours),
             reverse = test::fetch_integers(bed.device(), edges.reverse);
  const std::vector<float> r = bed.fetch(edges.displacement);
  bool all = true;
  for (std::size_t e = 0; e < to.size(); ++e) {
    const auto other = static_cast<std::size_t>(reverse[e]);
    all = all && to[other] == from[e] && from[other] == to[e];
    for (std::size_t a = 0; a < 3; ++a) all = all && r[3 * e + a] == -r[3 * other + a];
  }
  CHECK(all);
}

TEST_CASE("ops.neighbour_list: an inner cutoff leaves out close pairs, not atoms themselves",
          "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const Molecules m = test::make_molecules(bed, {40}, 10);
  const auto run = [&](tensor::Context& context, const tensor::Tensor& x,
                       const tensor::Ragged& segments) {
    const ops::Edges edges = test::make_edges(context, 40, 1600);
    ops::neighbour_list(context, {x, &segments, {}, 2, 5, true, edges});
    return edges;
  };
  const test::EdgesPair edges{run(bed.reference(), m.positions.host, m.segments.host),
                              run(bed.device(), m.positions.device, m.segments.device)};
  const std::int32_t n = integers(edges.host.count)[0];
  CHECK(n > 100);
  for (std::int32_t e = 0; e < n; ++e)
    CHECK((edges.host.distance.as<float>()[e] >= 2 || edges.host.distance.as<float>()[e] == 0));
  check_same(bed, edges);
}

TEST_CASE("ops.neighbour_list: a pair at the inner cutoff counts, one at the outer does not",
          "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const test::RaggedPair segments = bed.segments({3});
  const Pair x = bed.pair({3, 3}, {0, 0, 0, 2, 0, 0, 4, 0, 0}, false);
  const ops::Edges edges = test::make_edges(bed.device(), 3, 6);
  ops::neighbour_list(bed.device(), {x.device, &segments.device, {}, 2, 4, false, edges});
  CHECK(ops::read_edge_count(bed.device(), edges) == 4);
  CHECK(test::fetch_integers(bed.device(), edges.starts) == std::vector<std::int32_t>{0, 1, 3, 4});
}

TEST_CASE("ops.neighbour_list: too little capacity is counted and nothing written past it",
          "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const Molecules m = test::make_molecules(bed, {60, 20}, 8);
  const std::int64_t all = integers(test::list_edges(bed, m, kCutoff, false).host.count)[0];
  const ops::Edges edges = test::make_edges(bed.device(), 80, all);
  ops::Edges part = edges;
  for (tensor::Tensor ops::Edges::*const list :
       {&ops::Edges::receivers, &ops::Edges::neighbours, &ops::Edges::reverse,
        &ops::Edges::displacement, &ops::Edges::distance})
    part.*list = (part.*list).slice(0, 0, all / 2);
  const std::vector<float> sevens(static_cast<std::size_t>(all), 7.0f);
  bed.device().copy_in(edges.distance, sevens.data());
  ops::neighbour_list(bed.device(),
                      {m.positions.device, &m.segments.device, {}, 0, kCutoff, false, part});
  CHECK(ops::read_edge_count(bed.device(), part) == all);
  const auto starts = test::fetch_integers(bed.device(), part.starts);
  CHECK(std::is_sorted(starts.begin(), starts.end()));
  CHECK(starts.back() == all / 2);
  const std::vector<float> distances = bed.fetch(edges.distance);
  CHECK(
      std::all_of(distances.begin() + all / 2, distances.end(), [](float d) { return d == 7.0f; }));
}

TEST_CASE("ops.neighbour_list: atoms that are no numbers have no neighbours", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int32_t n = GENERATE(40, 300);
  Molecules m = test::make_molecules(bed, {n}, 10);
  std::vector<float> x = m.positions.values;
  x[4] = NAN, x[30] = INFINITY;
  m.positions = bed.pair({n, 3}, x, false);
  const test::EdgesPair edges = test::list_edges(bed, m, kCutoff, false);
  CHECK(integers(edges.host.starts)[1] == integers(edges.host.starts)[2]);
  CHECK(integers(edges.host.starts)[10] == integers(edges.host.starts)[11]);
  check_same(bed, edges);
}

TEST_CASE("ops.edge_capacity: room to spare, in few sizes", "[ops]") {
  CHECK(ops::edge_capacity(0) == 256);
  CHECK(ops::edge_capacity(257) == 288);
  CHECK(ops::edge_capacity(512) == 512);
  CHECK(ops::edge_capacity(513) == 576);
  CHECK(ops::edge_capacity(1000000) == 1048576);
  for (std::int64_t n = 1; n < 5000; ++n)
    CHECK((ops::edge_capacity(n) >= n &&
           ops::edge_capacity(n) <= std::max<std::int64_t>(256, n * 9 / 8)));
}
