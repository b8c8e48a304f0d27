#include "lib/core/simd_targets.hpp"
// The settings come first; foreach_target.h compiles this file once per target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/ops/neighbours/neighbour_list_cpu.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h by its rules.
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "lib/ops/cpu/cpu_context.hpp"
#include "lib/ops/cpu/math-inl.hpp"
#include "lib/ops/neighbours/cell_grid.hpp"
#include "lib/ops/neighbours/minimum_image.hpp"
#include "lib/ops/neighbours/neighbour_images.hpp"
#include "lib/ops/neighbours/neighbour_list.hpp"

#ifndef BIOGPU_OPS_NEIGHBOUR_SEARCH
#define BIOGPU_OPS_NEIGHBOUR_SEARCH
namespace biogpu::ops {

// One atom's search in the grid of its molecule.
struct NeighbourSearch {
  const CellGrid* grid;
  const float* position;
  const float* box;  // or null
  float lower_squared, upper_squared;
  std::int32_t atom;
  bool self_pair;
};

}  // namespace biogpu::ops
#endif

HWY_BEFORE_NAMESPACE();
namespace biogpu::ops {
namespace HWY_NAMESPACE {

struct VectorDisplacement {
  Vec x, y, z;
};

HWY_INLINE void take_off(Vec& from, Vec times, float length) {
  from = hn::Sub(from, hn::Mul(times, hn::Set(F32(), length)));
}

// The steps of Displacement (minimum_image.hpp), in the same order.
HWY_INLINE void into_box(VectorDisplacement& r, const float* box) {
  const F32 f32;
  const Vec n_c = hn::Round(hn::Div(r.z, hn::Set(f32, box[8])));
  take_off(r.x, n_c, box[6]);
  take_off(r.y, n_c, box[7]);
  take_off(r.z, n_c, box[8]);
  const Vec n_b = hn::Round(hn::Div(r.y, hn::Set(f32, box[4])));
  take_off(r.x, n_b, box[3]);
  take_off(r.y, n_b, box[4]);
  take_off(r.x, hn::Round(hn::Div(r.x, hn::Set(f32, box[0]))), box[0]);
}

// Neighbours of an atom among the slots of a range, in their order, to `found`, which has room for
// a vector more. Returns how many.
std::int64_t search_range(const NeighbourSearch& s, CellGrid::Range range, std::int32_t* found) {
  const F32 f32;
  const hn::RebindToSigned<F32> i32;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(f32));
  const Vec x = hn::Set(f32, s.position[0]), y = hn::Set(f32, s.position[1]),
            z = hn::Set(f32, s.position[2]);
  const Vec lower = hn::Set(f32, s.lower_squared), upper = hn::Set(f32, s.upper_squared);
  std::int64_t n_found = 0;
  for (std::int64_t i = range.begin; i < range.end; i += lanes) {
    const auto n = static_cast<std::size_t>(std::min(lanes, range.end - i));
    VectorDisplacement r{hn::Sub(x, load_first(s.grid->axis(0) + i, n)),
                         hn::Sub(y, load_first(s.grid->axis(1) + i, n)),
                         hn::Sub(z, load_first(s.grid->axis(2) + i, n))};
    if (s.box != nullptr) into_box(r, s.box);
    const Vec squared = hn::Add(hn::Add(hn::Mul(r.x, r.x), hn::Mul(r.y, r.y)), hn::Mul(r.z, r.z));
    const auto atoms =
        hn::BitCast(i32, load_first(reinterpret_cast<const float*>(s.grid->atoms() + i), n));
    const auto self = hn::Eq(atoms, hn::Set(i32, s.atom));
    const auto within =
        hn::RebindMask(i32, hn::And(hn::Ge(squared, lower), hn::Lt(squared, upper)));
    auto mask = hn::AndNot(self, within);
    if (s.self_pair) mask = hn::Or(mask, self);
    mask = hn::And(mask, hn::FirstN(i32, n));
    n_found += static_cast<std::int64_t>(hn::CompressStore(atoms, mask, i32, found + n_found));
  }
  return n_found;
}

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::ops
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace biogpu::ops {

HWY_EXPORT(search_range);

namespace {

constexpr std::int64_t kAtomsPerTask = 16;
constexpr std::int64_t kVector = 64;  // numbers of the longest vector

// Memory of one task.
struct Found {
  std::unique_ptr<std::int32_t[]> atoms;  // left as it is: a molecule may be large
  std::vector<CellGrid::Range> ranges;
};

std::int64_t search(const NeighbourSearch& s, Found& found) {
  s.grid->ranges_around(s.position, found.ranges);
  std::int64_t n = 0;
  for (const CellGrid::Range range : found.ranges)
    n += HWY_DYNAMIC_DISPATCH(search_range)(s, range, found.atoms.get() + n);
  if (found.ranges.size() > 1) std::sort(found.atoms.get(), found.atoms.get() + n);
  return n;
}

// body(atom, its neighbours, how many) for all atoms of a molecule, by all threads.
template <class Body>
void for_neighbours(CpuContext& context, const NeighbourList& op, std::int64_t segment,
                    const CellGrid& grid, const Body& body) {
  const std::int64_t begin = op.segments->begin(segment), n = op.segments->length(segment);
  const float* const box = box_of(op.boxes.as<float>(), segment);
  const auto lower = static_cast<float>(op.cutoff_lower),
             upper = static_cast<float>(op.cutoff_upper);
  context.for_each((n + kAtomsPerTask - 1) / kAtomsPerTask, [&](std::int64_t task) {
    Found found;
    found.atoms.reset(new std::int32_t[static_cast<std::size_t>(n + kVector)]);
    const std::int64_t end = std::min(n, (task + 1) * kAtomsPerTask);
    for (std::int64_t i = begin + task * kAtomsPerTask; i < begin + end; ++i) {
      const NeighbourSearch s{
          &grid,         op.positions.as<float>() + 3 * i, box,          lower * lower,
          upper * upper, static_cast<std::int32_t>(i),     op.self_pairs};
      body(i, found.atoms.get(), search(s, found));
    }
  });
}

void write_row(const NeighbourList& op, std::int64_t segment, std::int64_t i,
               const std::int32_t* neighbours) {
  const Edges& edges = op.edges;
  const auto* const starts = edges.starts.as<std::int32_t>();
  const float* const x = op.positions.as<float>();
  const float* const box = box_of(op.boxes.as<float>(), segment);
  for (std::int64_t e = starts[i]; e < starts[i + 1]; ++e) {
    const std::int32_t j = neighbours[e - starts[i]];
    const Displacement<float> r(x + 3 * i, x + 3 * std::int64_t{j}, box);
    edges.receivers.as<std::int32_t>()[e] = static_cast<std::int32_t>(i);
    edges.neighbours.as<std::int32_t>()[e] = j;
    float* const to = edges.displacement.as<float>() + 3 * e;
    to[0] = r.x, to[1] = r.y, to[2] = r.z;
    edges.distance.as<float>()[e] = std::sqrt(r.squared());
  }
}

// Where the neighbours of its neighbour, which rise, name the receiver.
std::int32_t reverse_of(const Edges& edges, std::int64_t e) {
  const auto* const starts = edges.starts.as<std::int32_t>();
  const auto* const neighbours = edges.neighbours.as<std::int32_t>();
  const std::int32_t i = edges.receivers.as<std::int32_t>()[e], j = neighbours[e];
  const auto* const end = neighbours + starts[j + 1];
  const auto* const found = std::lower_bound(neighbours + starts[j], end, i);
  return static_cast<std::int32_t>(found != end && *found == i ? found - neighbours : e);
}

void write_pads(const Edges& edges, std::int64_t begin) {
  for (std::int64_t e = begin; e < edges.capacity(); ++e) {
    edges.receivers.as<std::int32_t>()[e] = edges.neighbours.as<std::int32_t>()[e] = 0;
    edges.reverse.as<std::int32_t>()[e] = static_cast<std::int32_t>(e);
    std::fill_n(edges.displacement.as<float>() + 3 * e, 3, 0.0f);
    edges.distance.as<float>()[e] = 0;
  }
}

// counts[i + 1] of every atom i to starts, none past the limit. Returns how many there are.
std::int64_t sum_counts(const Edges& edges, std::int64_t limit) {
  auto* const starts = edges.starts.as<std::int32_t>();
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < edges.n_atoms(); ++i) {
    count += starts[i + 1];
    starts[i + 1] = static_cast<std::int32_t>(std::min(count, limit));
  }
  return count;
}

void fill_edges(CpuContext& context, const NeighbourList& op, const std::vector<CellGrid>& grids) {
  for (std::int64_t s = 0; s < op.segments->n_segments; ++s)
    for_neighbours(context, op, s, grids[static_cast<std::size_t>(s)],
                   [&](std::int64_t i, const std::int32_t* neighbours, std::int64_t) {
                     write_row(op, s, i, neighbours);
                   });
  const std::int64_t count = op.edges.starts.as<std::int32_t>()[op.edges.n_atoms()];
  write_pads(op.edges, count);
  context.for_rows(count, [&](std::int64_t e, std::int64_t end) {
    for (; e < end; ++e) op.edges.reverse.as<std::int32_t>()[e] = reverse_of(op.edges, e);
  });
}

}  // namespace

void neighbour_list_cpu(CpuContext& context, const NeighbourList& op) {
  if (op.all_images) return neighbour_images_cpu(context, op);
  constexpr std::int64_t kMax = std::numeric_limits<std::int32_t>::max();
  auto* const starts = op.edges.starts.as<std::int32_t>();
  std::fill_n(starts, op.edges.n_atoms() + 1, 0);
  std::vector<CellGrid> grids;
  for (std::int64_t s = 0; s < op.segments->n_segments; ++s) {
    grids.emplace_back(op.positions.as<float>() + 3 * op.segments->begin(s), op.segments->begin(s),
                       op.segments->length(s), box_of(op.boxes.as<float>(), s),
                       static_cast<float>(op.cutoff_upper));
    for_neighbours(context, op, s, grids.back(),
                   [&](std::int64_t i, const std::int32_t*, std::int64_t n) {
                     starts[i + 1] = static_cast<std::int32_t>(n);
                   });
  }
  const bool fills = !op.edges.neighbours.empty();
  const std::int64_t count = sum_counts(op.edges, fills ? op.edges.capacity() : kMax);
  *op.edges.count.as<std::int32_t>() = static_cast<std::int32_t>(std::min(count, kMax));
  if (fills) fill_edges(context, op, grids);
}

}  // namespace biogpu::ops
#endif
