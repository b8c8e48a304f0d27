#include <random>

#include "lib/models/tensornet/graph.hpp"
#include "lib/ops/neighbours/neighbour_list.hpp"
#include "tests/ops/neighbours/edge_bed.hpp"

using namespace biogpu;
using test::Bed;

namespace {

constexpr double kCutoff = 4.5;

// Molecules in double precision; their boxes are 9 zeros where there is none.
struct Frames {
  std::vector<std::int32_t> lengths;
  std::vector<double> positions, boxes;

  std::int64_t n_atoms() const { return static_cast<std::int64_t>(positions.size() / 3); }

  void add(const std::vector<double>& x, const std::vector<double>& box = std::vector<double>(9)) {
    lengths.push_back(static_cast<std::int32_t>(x.size() / 3));
    positions.insert(positions.end(), x.begin(), x.end());
    boxes.insert(boxes.end(), box.begin(), box.end());
  }
};

// n atoms evenly in [-side / 2, side / 2) along each axis.
std::vector<double> random_atoms(std::size_t n, double side, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> place(-side / 2, side / 2);
  std::vector<double> x(3 * n);
  for (double& coordinate : x) coordinate = place(random);
  return x;
}

struct Rule {
  double lower = 0, upper = kCutoff;
  bool self_pairs = false;
};

// Edges as numbers, the same type for the contexts and the graph of TensorNet.
struct Listed {
  std::vector<std::int32_t> starts, receivers, neighbours, reverse;
  std::vector<float> displacement, distance;
  std::int32_t count = 0;
};

ops::Edges make_image_edges(tensor::Context& context, std::int64_t n_atoms, std::int64_t capacity) {
  const auto bytes = static_cast<std::size_t>(4 * n_atoms + 32 * capacity) + 8192;
  tensor::Arena arena(context.allocate(bytes), bytes);
  return ops::take_edges(arena, n_atoms, capacity, true);
}

// On a context. segments: its own. extra: atoms behind the last molecule.
struct Listing {
  Listing(tensor::Context& on, const tensor::Ragged& of, const Frames& frames, Rule by,
          std::int64_t extra = 0)
      : context(on), segments(of), rule(by), n_atoms(frames.n_atoms() + extra) {
    std::vector<double> x = frames.positions;
    x.resize(static_cast<std::size_t>(3 * n_atoms), 1.0);
    positions = copied(x, {n_atoms, 3});
    boxes = copied(frames.boxes, {static_cast<std::int64_t>(frames.lengths.size()), 9});
  }
  tensor::Tensor copied(const std::vector<double>& numbers,
                        std::initializer_list<std::int64_t> shape) const {
    const tensor::Tensor tensor(context.allocate(8 * numbers.size() + 8), tensor::DType::f64,
                                shape);
    context.copy_in(tensor, numbers.data());
    context.synchronize();
    return tensor;
  }
  void run(const ops::Edges& edges) const {
    ops::neighbour_list(context, {positions, &segments, boxes, rule.lower, rule.upper,
                                  rule.self_pairs, edges, true});
  }
  std::int64_t count() const {
    ops::Edges edges = make_image_edges(context, n_atoms, 0);
    edges.neighbours = {};
    run(edges);
    return ops::read_edge_count(context, edges);
  }
  Listed fetch(const ops::Edges& edges) const {
    const auto numbers = [&](const tensor::Tensor& from) {
      std::vector<float> to(static_cast<std::size_t>(from.size()));
      if (!to.empty())
        context.copy_out(to.data(),
                         tensor::Tensor(from.data, tensor::DType::f32, {from.size(), 1}));
      context.synchronize();
      return to;
    };
    Listed listed{test::fetch_integers(context, edges.starts),
                  test::fetch_integers(context, edges.receivers),
                  test::fetch_integers(context, edges.neighbours),
                  test::fetch_integers(context, edges.reverse),
                  numbers(edges.displacement),
                  numbers(edges.distance),
                  test::fetch_integers(context, edges.count)[0]};
    return listed;
  }
  Listed list(std::int64_t capacity) const {
    const ops::Edges edges = make_image_edges(context, n_atoms, capacity);
    run(edges);
    return fetch(edges);
  }

  tensor::Context& context;
  const tensor::Ragged& segments;
  const Rule rule;
  const std::int64_t n_atoms;
  tensor::Tensor positions, boxes;
};

void check_same(const Listed& a, const Listed& b) {
  CHECK(a.count == b.count);
  CHECK(a.starts == b.starts);
  CHECK(a.receivers == b.receivers);
  CHECK(a.neighbours == b.neighbours);
  CHECK(a.reverse == b.reverse);
  CHECK(a.displacement == b.displacement);
  CHECK(a.distance == b.distance);
}

// What TensorNet lists on the host.
Listed list_graph(const Frames& frames, Rule rule) {
  models::tensornet::Graph graph;
  std::size_t begin = 0;
  for (std::size_t s = 0; s < frames.lengths.size(); ++s) {
    models::AtomSystem system;
    const auto n = static_cast<std::size_t>(frames.lengths[s]);
    system.atomic_numbers.assign(n, 6);
    system.positions.assign(
        frames.positions.begin() + static_cast<std::ptrdiff_t>(3 * begin),
        frames.positions.begin() + static_cast<std::ptrdiff_t>(3 * (begin + n)));
    models::Box box{};
    std::copy_n(frames.boxes.begin() + static_cast<std::ptrdiff_t>(9 * s), 9, box.begin());
    if (box != models::Box{}) system.box = box;
    models::tensornet::add_system(system, {rule.lower, rule.upper, rule.self_pairs}, graph);
    begin += n;
  }
  Listed listed{graph.edge_starts, graph.receivers, graph.neighbours, graph.reverse, {}, {}};
  listed.displacement.assign(graph.displacement.begin(), graph.displacement.end());
  listed.distance.assign(graph.distance.begin(), graph.distance.end());
  listed.count = static_cast<std::int32_t>(graph.n_edges());
  return listed;
}

// The context's list, the reference's and the host's of the same frames. Returns the edges.
std::int64_t check_frames(Bed& bed, const Frames& frames, Rule rule) {
  const test::RaggedPair segments = bed.segments(frames.lengths);
  const Listing device(bed.device(), segments.device, frames, rule);
  const Listing host(bed.reference(), segments.host, frames, rule);
  const std::int64_t n = host.count();
  CHECK(device.count() == n);
  check_same(device.list(n + 300), host.list(n + 300));
  check_same(device.list(n), list_graph(frames, rule));
  return n;
}

const std::vector<double> kCube{12, 0, 0, 0, 12, 0, 0, 0, 12};
const std::vector<double> kTriclinic{12, 0, 0, 3, 11, 0, -4, 2, 13};
// Left-handed, and in no special direction.
const std::vector<double> kTurned{2, 11, 1, 12, -3, 2, 1, -2, 14};

}  // namespace

TEST_CASE("ops.neighbour_list: all images are the host's bytes, for molecules of all sizes",
          "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const bool self_pairs = GENERATE(false, true);
  Frames frames;
  unsigned seed = 1;
  for (const std::size_t n : {1, 31, 0, 32, 33, 63, 64, 65, 100})
    frames.add(random_atoms(n, 9, seed++));
  CHECK(check_frames(bed, frames, {0, kCutoff, self_pairs}) > 1000);
}

TEST_CASE("ops.neighbour_list: all images in boxes of any shape, with and without", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  Frames frames;
  frames.add(random_atoms(60, 60, 1), kTriclinic);  // atoms reach over several boxes
  frames.add(random_atoms(40, 12, 2));
  frames.add(random_atoms(70, 20, 3), kTurned);
  frames.add(random_atoms(2, 1e5, 4), kCube);  // far away
  CHECK(check_frames(bed, frames, {}) > 1000);
}

TEST_CASE("ops.neighbour_list: boxes narrower than the cutoff have many images", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const bool self_pairs = GENERATE(false, true);
  Frames frames;
  frames.add({0.1, 0.2, 0.3}, {2, 0, 0, 0, 3, 0, 0, 0, 30});  // one atom, neighbour of itself
  frames.add({0, 0, 0, 1, 1, 1.5}, {2.7, 0, 0, 1.3, 2.4, 0, 1.3, 0.7, 2.2});
  frames.add({-9, 40, 0.5}, {0.5, 0, 0, 0, 20, 0, 0, 0, 20});
  CHECK(check_frames(bed, frames, {0, kCutoff, self_pairs}) > 100);
}

TEST_CASE("ops.neighbour_list: all images of molecules large enough for many cells", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const double side = GENERATE(12.0, 40.0);
  const bool in_box = GENERATE(false, true);
  Frames frames;
  frames.add(random_atoms(600, side, 5),
             in_box ? std::vector<double>{30, 0, 0, -9, 27, 0, 11, 8, 33} : std::vector<double>(9));
  // Few atoms over many empty cells, more than one block bins at once.
  frames.add(random_atoms(20, 400, 6));
  CHECK(check_frames(bed, frames, {0, side < 20 ? 2.0 : 4.0, false}) > 600);
}

TEST_CASE("ops.neighbour_list: atoms on the borders of cells and of the box", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  std::vector<double> lattice;
  for (int a = 0; a < 6; ++a)
    for (int b = 0; b < 6; ++b)
      for (int c = 0; c < 6; ++c)
        for (const int k : {a, b, c}) lattice.push_back(2.0 * k);
  Frames frames;
  frames.add(lattice);
  frames.add(lattice, kCube);
  std::vector<double> shifted = lattice;
  for (std::size_t k = 0; k < shifted.size(); ++k) shifted[k] -= k % 2 == 0 ? 12.0 : -24.0;
  frames.add(shifted, kCube);
  // Pairs at the outer cutoff are none, those at the inner one are.
  const std::int64_t n = check_frames(bed, frames, {2, 4, false});
  CHECK(n > 216 * 2 * 20);
  CHECK(check_frames(bed, frames, {2, 4.0000001, false}) > n);
}

TEST_CASE("ops.neighbour_list: too few edges for all images, and atoms of no molecule", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  Frames frames;
  frames.add(random_atoms(50, 12, 7), kTriclinic);
  frames.add(random_atoms(30, 9, 8));
  const test::RaggedPair segments = bed.segments(frames.lengths);
  const Listing device(bed.device(), segments.device, frames, {}, 9);
  const Listing host(bed.reference(), segments.host, frames, {}, 9);
  const std::int64_t n = host.count();
  check_same(device.list(n + 5), host.list(n + 5));
  CHECK(device.count() == n);
  // Nothing is written past a capacity that is too small.
  const ops::Edges edges = make_image_edges(bed.device(), device.n_atoms, n);
  ops::Edges part = edges;
  for (tensor::Tensor ops::Edges::*const list :
       {&ops::Edges::receivers, &ops::Edges::neighbours, &ops::Edges::reverse,
        &ops::Edges::displacement, &ops::Edges::distance, &ops::Edges::images})
    part.*list = (part.*list).slice(0, 0, n / 2);
  const std::vector<float> sevens(static_cast<std::size_t>(n), 7.0f);
  bed.device().copy_in(edges.distance, sevens.data());
  device.run(part);
  CHECK(ops::read_edge_count(bed.device(), part) == n);
  const auto starts = test::fetch_integers(bed.device(), part.starts);
  CHECK(std::is_sorted(starts.begin(), starts.end()));
  CHECK(starts.back() == n / 2);
  const std::vector<float> distances = bed.fetch(edges.distance);
  CHECK(std::all_of(distances.begin() + n / 2, distances.end(), [](float d) { return d == 7.0f; }));
}
