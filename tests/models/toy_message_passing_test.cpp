// A toy potential in one file: two layers of messages between atoms over a neighbour list, an
// energy that is a sum over atoms, and forces by the gradient written by hand. Shows that the
// engine runs a model whose shapes depend on data; forces are compared with finite differences of
// the energy in double precision, written a second time as plain loops.

#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "lib/ops/elementwise/map.hpp"
#include "lib/ops/elementwise/row_scale.hpp"
#include "lib/ops/elementwise/silu.hpp"
#include "lib/ops/elementwise/silu_grad.hpp"
#include "lib/ops/gather/gather_rows.hpp"
#include "lib/ops/gemm/gemm.hpp"
#include "lib/ops/message_passing/message_sum.hpp"
#include "lib/ops/message_passing/message_sum_grad.hpp"
#include "lib/ops/message_passing/segment_sum.hpp"
#include "lib/ops/neighbours/neighbour_list.hpp"
#include "lib/ops/neighbours/neighbour_list_grad.hpp"
#include "tests/ops/op_bed.hpp"

using namespace biogpu;
using tensor::Arena;
using tensor::Context;
using tensor::DType;
using tensor::Linear;
using tensor::Tensor;
using test::Bed;
using test::Pair;

namespace {

constexpr float kCutoff = 4.5f;
constexpr std::int64_t kTypes = 3, kRadial = 8, kChannels = 24, kHidden = 16;

// The weights, and a map with its transpose for the way back.
struct Toy {
  explicit Toy(Bed& bed)
      : means(bed.pair({kRadial}, {0.8f, 1.3f, 1.8f, 2.3f, 2.8f, 3.3f, 3.8f, 4.3f}, false)),
        minus_betas(
            bed.pair({kRadial}, {-0.9f, -0.8f, -1, -1.1f, -0.9f, -0.8f, -0.7f, -1.2f}, false)),
        types(bed.random({kTypes, kChannels}, 1, false)),
        filter(bed.linear(kChannels, kRadial)),
        filter_back(transposed(bed, filter)),
        hidden(bed.linear(kHidden, kChannels)),
        hidden_back(transposed(bed, hidden)),
        energy(bed.linear(1, kHidden)) {
    std::vector<float> negative = energy.weight.values;
    for (float& weight : negative) weight = -weight;
    minus_energy = bed.pair({1, kHidden}, negative, false);
  }
  // The map back has no bias.
  static Linear transposed(Bed& bed, const test::LinearPair& map) {
    const std::int64_t n = map.host.n_out, k = map.host.n_in;
    std::vector<float> values(map.weight.values.size());
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < k; ++j)
        values[static_cast<std::size_t>(j * n + i)] =
            map.weight.values[static_cast<std::size_t>(i * k + j)];
    return bed.device().upload_linear(Tensor(values.data(), DType::f32, {k, n}), {});
  }
  Pair means, minus_betas, types;
  test::LinearPair filter;
  Linear filter_back;
  test::LinearPair hidden;
  Linear hidden_back;
  test::LinearPair energy;
  Pair minus_energy;
};

struct Inputs {
  Tensor positions;  // f32 [T, 3]
  Tensor types;      // i32 [T]
  Tensor zeros;      // i32 [T]
  const tensor::Ragged* molecules = nullptr;
};
struct Results {
  Tensor energies;  // f64 [molecules, 1]
  Tensor forces;    // f32 [T, 3]
  Tensor count;     // i32 [1], of edges
};

// What the way back needs of the way there.
struct Kept {
  ops::Edges edges;
  Tensor gaussians, weights, x, first, first_active, hidden;
};

Tensor as_atoms(Tensor rows) {  // [T, F] as [1, T, F]
  return Tensor(rows.data, rows.dtype, {1, rows.shape[0], rows.shape[1]});
}

Tensor as_edges(Tensor rows) {  // [E, F] as [E, 1, F]
  return Tensor(rows.data, rows.dtype, {rows.shape[0], 1, rows.shape[1]});
}

Tensor as_operand(Context& context, Arena& arena, const Tensor& x) {
  const Tensor out = arena.take(context.compute_dtype(), {x.shape[0], x.shape[1]});
  ops::gather_rows(context, {x, {}, out});
  return out;
}

// Let d be a distance and u = 1 - (d / cutoff)^2: gaussians = exp(-beta (d - mean)^2), and
// radial = u^2 gaussians.
constexpr float kPerSquare = -1 / (kCutoff * kCutoff);

void radial_functions(Context& context, const Toy& toy, const Kept& kept, const Tensor& radial) {
  using ops::Map;
  using ops::MapCode;
  const Tensor d(kept.edges.distance.data, DType::f32, {kept.edges.capacity(), 1});
  ops::map(context, ops::make_map({d, toy.means.device, toy.minus_betas.device},
                                  {{MapCode::subtract, 1},
                                   {MapCode::keep, Map::kKept},
                                   {MapCode::multiply, Map::kKept},
                                   {MapCode::multiply, 2},
                                   {MapCode::exp}},
                                  kept.gaussians));
  ops::map(context,
           ops::make_map({d, kept.gaussians},
                         {{MapCode::multiply, 0},
                          {MapCode::multiply_add, Map::kNumber, Map::kNumber, kPerSquare, 1},
                          {MapCode::keep, Map::kKept},
                          {MapCode::multiply, Map::kKept},
                          {MapCode::multiply, 1}},
                         radial));
}

// d_distance from d_radial, whose memory is written:
//   slope of radial = u gaussian (-4 d / cutoff^2 - 2 beta u (d - mean))
void radial_functions_grad(Context& context, Arena& arena, const Toy& toy, const Kept& kept,
                           const Tensor& d_radial, const Tensor& d_distance) {
  using ops::Map;
  using ops::MapCode;
  const Tensor d(kept.edges.distance.data, DType::f32, {kept.edges.capacity(), 1});
  const Tensor slopes = arena.take(DType::f32, {kept.edges.capacity(), kRadial});
  ops::map(context, ops::make_map({d, toy.means.device, toy.minus_betas.device},
                                  {{MapCode::subtract, 1},
                                   {MapCode::multiply, 2},
                                   {MapCode::multiply, Map::kNumber, 0, 2}},
                                  slopes));
  ops::map(context,
           ops::make_map({slopes, kept.gaussians, d},
                         {{MapCode::load, 2},
                          {MapCode::multiply, 2},
                          {MapCode::multiply_add, Map::kNumber, Map::kNumber, kPerSquare, 1},
                          {MapCode::keep, Map::kKept},
                          {MapCode::multiply, 0},
                          {MapCode::keep, Map::kKept + 1},
                          {MapCode::load, 2},
                          {MapCode::multiply, Map::kNumber, 0, 4 * kPerSquare},
                          {MapCode::add, Map::kKept + 1},
                          {MapCode::multiply, Map::kKept},
                          {MapCode::multiply, 1}},
                         slopes));
  // Its d_scale is the sum of a row's products.
  ops::row_scale_grad(context, {slopes, kept.edges.distance, d_radial, d_radial, d_distance});
}

Tensor energy_of_atoms(Context& context, Arena& arena, const Toy& toy, const Inputs& in,
                       Kept& kept) {
  const std::int64_t n = in.positions.shape[0], n_edges = kept.edges.capacity();
  ops::neighbour_list(context, {in.positions, in.molecules, {}, 0, kCutoff, false, kept.edges});
  const Tensor radial = arena.take(DType::f32, {n_edges, kRadial});
  radial_functions(context, toy, kept, radial);
  ops::gemm(context, {as_operand(context, arena, radial),
                      &toy.filter.device,
                      ops::Activation::none,
                      {},
                      kept.weights});
  ops::gather_rows(context, {toy.types.device, in.types, kept.x});
  const Tensor weights = as_edges(kept.weights);
  ops::message_sum(context, {as_atoms(kept.x), weights, &kept.edges, as_atoms(kept.first)});
  ops::silu(context, {kept.first, kept.first_active});
  const Tensor second = arena.take(DType::f32, {n, kChannels});
  ops::message_sum(context, {as_atoms(kept.first_active), weights, &kept.edges, as_atoms(second)});
  ops::gemm(context, {as_operand(context, arena, second),
                      &toy.hidden.device,
                      ops::Activation::none,
                      {},
                      kept.hidden});
  const Tensor active = arena.take(context.compute_dtype(), {n, kHidden});
  ops::silu(context, {kept.hidden, active});
  const Tensor energies = arena.take(DType::f32, {n, 1});
  ops::gemm(context, {active, &toy.energy.device, ops::Activation::none, {}, energies});
  return energies;
}

// Forces are the gradient of minus the energy.
void forces_of_atoms(Context& context, Arena& arena, const Toy& toy, const Inputs& in,
                     const Kept& kept, const Tensor& forces) {
  const std::int64_t n = in.positions.shape[0], n_edges = kept.edges.capacity();
  const Tensor d_active = arena.take(DType::f32, {n, kHidden});
  ops::gather_rows(context, {toy.minus_energy.device, in.zeros, d_active});
  const Tensor d_hidden = arena.take(context.compute_dtype(), {n, kHidden});
  ops::silu_grad(context, {kept.hidden, d_active, d_hidden});
  const Tensor d_second = arena.take(DType::f32, {n, kChannels});
  ops::gemm(context, {d_hidden, &toy.hidden_back, ops::Activation::none, {}, d_second});
  const Tensor weights = as_edges(kept.weights);
  const Tensor d_weights[2] = {arena.take(DType::f32, {n_edges, kChannels}),
                               arena.take(DType::f32, {n_edges, kChannels})};
  const Tensor d_first = arena.take(DType::f32, {n, kChannels});
  ops::message_sum_grad(context, {as_atoms(kept.first_active), weights, &kept.edges,
                                  as_atoms(d_second), as_edges(d_weights[0]), as_atoms(d_first)});
  ops::silu_grad(context, {kept.first, d_first, d_first});
  const Tensor d_x = arena.take(DType::f32, {n, kChannels});
  ops::message_sum_grad(context, {as_atoms(kept.x), weights, &kept.edges, as_atoms(d_first),
                                  as_edges(d_weights[1]), as_atoms(d_x)});
  const Tensor d_radial = arena.take(DType::f32, {n_edges, kRadial});
  for (int layer = 0; layer < 2; ++layer)
    ops::gemm(context, {as_operand(context, arena, d_weights[layer]), &toy.filter_back,
                        ops::Activation::none, layer == 0 ? Tensor() : d_radial, d_radial});
  const Tensor d_distance = arena.take(DType::f32, {n_edges});
  radial_functions_grad(context, arena, toy, kept, d_radial, d_distance);
  ops::neighbour_list_grad(context, {&kept.edges, d_distance, {}, forces});
}

Results forward(Context& context, Arena& arena, const Toy& toy, const Inputs& in,
                std::int64_t capacity) {
  const std::int64_t n = in.positions.shape[0];
  Results results{
      arena.take(DType::f64, {in.molecules->n_segments, 1}), arena.take(DType::f32, {n, 3}), {}};
  Kept kept{
      ops::take_edges(arena, n, capacity),           arena.take(DType::f32, {capacity, kRadial}),
      arena.take(DType::f32, {capacity, kChannels}), arena.take(DType::f32, {n, kChannels}),
      arena.take(DType::f32, {n, kChannels}),        arena.take(DType::f32, {n, kChannels}),
      arena.take(DType::f32, {n, kHidden})};
  results.count = kept.edges.count;
  const auto scope = arena.scope();
  const Tensor energies = energy_of_atoms(context, arena, toy, in, kept);
  ops::segment_sum(context, {energies, in.molecules->device_starts, {}, results.energies});
  forces_of_atoms(context, arena, toy, in, kept, results.forces);
  return results;
}

// Atoms of a batch in both precisions.
struct Batch {
  std::vector<std::int32_t> lengths, types;
  std::vector<float> positions;
};

// Atoms about a bond's length from one another, so that no function of a distance is steep.
Batch make_batch(const std::vector<std::int32_t>& lengths) {
  Batch batch{lengths, {}, {}};
  std::mt19937 random(5);
  std::uniform_real_distribution<float> jitter(-0.35f, 0.35f);
  for (const std::int32_t length : lengths)
    for (std::int32_t i = 0; i < length; ++i) {
      batch.types.push_back(static_cast<std::int32_t>(random() % kTypes));
      const std::int32_t cell[3] = {i % 3, i / 3 % 3, i / 9};
      for (const std::int32_t at : cell)
        batch.positions.push_back(1.7f * static_cast<float>(at) + jitter(random));
    }
  return batch;
}

// The energy of one molecule in double precision, as plain loops.
class DoubleEnergy {
 public:
  DoubleEnergy(const Toy& toy, const Batch& batch, std::size_t first, std::size_t n)
      : toy_(toy), batch_(batch), first_(first), n_(n) {}

  double operator()(const std::vector<double>& x) const {
    using Rows = std::vector<std::vector<double>>;
    Rows h(n_, std::vector<double>(kChannels));
    for (std::size_t i = 0; i < n_; ++i)
      for (std::size_t f = 0; f < kChannels; ++f) {
        const auto type = static_cast<std::size_t>(batch_.types[first_ + i]);
        h[i][f] = toy_.types.values[type * kChannels + f];
      }
    for (int layer = 0; layer < 2; ++layer) {
      Rows sums(n_, std::vector<double>(kChannels));
      for (std::size_t i = 0; i < n_; ++i)
        for (std::size_t j = 0; j < n_; ++j) {
          const double d = std::hypot(x[3 * i] - x[3 * j], x[3 * i + 1] - x[3 * j + 1],
                                      x[3 * i + 2] - x[3 * j + 2]);
          if (i == j || d >= static_cast<double>(kCutoff)) continue;
          const std::vector<double> weights = map(toy_.filter, radial(d));
          for (std::size_t f = 0; f < kChannels; ++f) sums[i][f] += weights[f] * h[j][f];
        }
      h = sums;
      if (layer == 0)
        for (auto& row : h) row = silu(row);
    }
    double energy = 0;
    for (const auto& row : h) energy += map(toy_.energy, silu(map(toy_.hidden, row)))[0];
    return energy;
  }

 private:
  std::vector<double> radial(double d) const {
    std::vector<double> functions;
    const double share = d / kCutoff, u = 1 - share * share;
    for (std::size_t k = 0; k < kRadial; ++k) {
      const double off = d - toy_.means.values[k];
      functions.push_back(u * u * std::exp(toy_.minus_betas.values[k] * off * off));
    }
    return functions;
  }
  static std::vector<double> silu(std::vector<double> x) {
    for (double& v : x) v /= 1 + std::exp(-v);
    return x;
  }
  static std::vector<double> map(const test::LinearPair& linear, const std::vector<double>& x) {
    std::vector<double> y(linear.bias.values.begin(), linear.bias.values.end());
    for (std::size_t i = 0; i < y.size(); ++i)
      for (std::size_t j = 0; j < x.size(); ++j)
        y[i] += static_cast<double>(linear.weight.values[i * x.size() + j]) * x[j];
    return y;
  }
  const Toy& toy_;
  const Batch& batch_;
  const std::size_t first_, n_;
};

// Runs a batch; its memory is measured by a dry run over the capacity that a count gave.
class Runner {
 public:
  Runner(Bed& bed, const Toy& toy, const Batch& batch)
      : bed_(bed),
        toy_(toy),
        molecules_(bed.segments(batch.lengths).device),
        types_(bed.indices(batch.types)),
        zeros_(bed.indices(std::vector<std::int32_t>(batch.types.size()))),
        positions_(bed.pair({n_atoms(), 3}, batch.positions, false)) {
    Context& context = bed.device();
    const std::size_t bytes = static_cast<std::size_t>(n_atoms()) * 4 + 4096;
    Arena counting(context.allocate(bytes), bytes);
    const ops::Edges counted = ops::take_edge_counts(counting, n_atoms());
    ops::neighbour_list(context, {positions_.device, &molecules_, {}, 0, kCutoff, false, counted});
    capacity_ = ops::edge_capacity(ops::read_edge_count(context, counted));
    Arena measuring = Arena::measuring();
    const auto dry_run = tensor::make_dry_run_context(context.precision());
    forward(*dry_run, measuring, toy_, inputs(), capacity_);
    bytes_ = measuring.peak_bytes();
    memory_ = context.allocate(bytes_);
  }
  void run(const std::vector<float>& positions) {
    Context& context = bed_.device();
    context.copy_in(positions_.device, positions.data());
    context.capture(1, [&] {
      Arena arena(memory_, bytes_);
      results_ = forward(context, arena, toy_, inputs(), capacity_);
    });
    context.synchronize();
  }
  std::vector<float> forces() { return bed_.fetch(results_.forces); }
  std::vector<double> energies() {
    std::vector<double> values(static_cast<std::size_t>(results_.energies.size()));
    bed_.device().copy_out(
        reinterpret_cast<float*>(values.data()),
        Tensor(results_.energies.data, DType::f32, {results_.energies.shape[0], 2}));
    bed_.device().synchronize();
    return values;
  }
  std::int32_t n_edges() {
    float bits = 0;
    bed_.device().copy_out(&bits, Tensor(results_.count.data, DType::f32, {1, 1}));
    bed_.device().synchronize();
    return std::bit_cast<std::int32_t>(bits);
  }
  std::int64_t capacity() const { return capacity_; }

 private:
  std::int64_t n_atoms() const { return molecules_.n_rows; }
  Inputs inputs() const { return {positions_.device, types_.device, zeros_.device, &molecules_}; }
  Bed& bed_;
  const Toy& toy_;
  const tensor::Ragged molecules_;
  const test::Indices types_, zeros_;
  const Pair positions_;
  std::int64_t capacity_ = 0;
  std::size_t bytes_ = 0;
  void* memory_ = nullptr;
  Results results_;
};

// Of forces and energies, relative to the largest force.
double force_bound(const Bed& bed) {
  return bed.precision() == tensor::Precision::fp32 ? 1e-4 : 3 * bed.operand_bound();
}

}  // namespace

TEST_CASE("models.toy_message_passing: forces are finite differences of the double energy",
          "[models]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const Toy toy(bed);
  const Batch batch = make_batch({14, 1, 22});
  Runner runner(bed, toy, batch);
  std::vector<float> moved = batch.positions;
  for (std::size_t k = 0; k < moved.size(); ++k) moved[k] += 0.02f * static_cast<float>(k % 5);
  runner.run(moved);
  runner.run(moved);  // recorded, where the context records
  runner.run(batch.positions);
  CHECK(runner.n_edges() > 300);
  CHECK(runner.n_edges() <= runner.capacity());
  const std::vector<float> forces = runner.forces();
  const std::vector<double> energies = runner.energies();
  double worst = 0, largest = 0, worst_energy = 0;
  std::size_t first = 0;
  for (std::size_t s = 0; s < batch.lengths.size(); ++s) {
    const auto n = static_cast<std::size_t>(batch.lengths[s]);
    const DoubleEnergy energy(toy, batch, first, n);
    std::vector<double> x(batch.positions.begin() + static_cast<std::ptrdiff_t>(3 * first),
                          batch.positions.begin() + static_cast<std::ptrdiff_t>(3 * (first + n)));
    worst_energy = test::worse_of(worst_energy, std::fabs(energies[s] - energy(x)));
    for (std::size_t k = 0; k < 3 * n; ++k) {
      const double kept = x[k];
      x[k] = kept + 1e-4;
      const double above = energy(x);
      x[k] = kept - 1e-4;
      const double force = (energy(x) - above) / 2e-4;
      x[k] = kept;
      worst = test::worse_of(worst, std::fabs(force - forces[3 * first + k]));
      largest = std::max(largest, std::fabs(force));
    }
    first += n;
  }
  CHECK(largest > 0.1);
  CHECK(worst < force_bound(bed) * largest);
  CHECK(worst_energy < 10 * force_bound(bed) * largest);
}

TEST_CASE("models.toy_message_passing: a molecule's bytes are the same alone and in a batch",
          "[models]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const Toy toy(bed);
  const Batch batch = make_batch({14, 1, 22});
  Runner all(bed, toy, batch);
  all.run(batch.positions);
  const std::vector<float> forces = all.forces();
  Batch one{{22}, {}, {}};
  one.types.assign(batch.types.begin() + 15, batch.types.end());
  one.positions.assign(batch.positions.begin() + 45, batch.positions.end());
  Runner alone(bed, toy, one);
  alone.run(one.positions);
  CHECK(alone.energies()[0] == all.energies()[2]);
  CHECK(alone.forces() == std::vector<float>(forces.begin() + 45, forces.end()));
}

TEST_CASE("models.toy_message_passing: forces of a molecule cancel", "[models]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const Toy toy(bed);
  const Batch batch = make_batch({22});
  Runner runner(bed, toy, batch);
  runner.run(batch.positions);
  const std::vector<float> forces = runner.forces();
  double sum[3] = {}, largest = 0;
  for (std::size_t k = 0; k < forces.size(); ++k) {
    sum[k % 3] += static_cast<double>(forces[k]);
    largest = std::max(largest, std::fabs(static_cast<double>(forces[k])));
  }
  for (const double total : sum) CHECK(std::fabs(total) < 1e-5 * largest);
}
