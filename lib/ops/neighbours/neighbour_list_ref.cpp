#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "lib/ops/neighbours/minimum_image.hpp"
#include "lib/ops/neighbours/neighbour_images.hpp"
#include "lib/ops/neighbours/neighbour_list.hpp"
#include "lib/ops/reference/real.hpp"

namespace biogpu::ops {
namespace {

struct Pair {
  std::int32_t receiver, neighbour;
};

template <class T>
Displacement<T> displacement(const NeighbourList& op, std::int64_t segment, Pair pair) {
  const T* const x = op.positions.as<T>();
  return {x + 3 * std::int64_t{pair.receiver}, x + 3 * std::int64_t{pair.neighbour},
          box_of(op.boxes.as<T>(), segment)};
}

template <class T>
std::vector<Pair> pairs_of(const NeighbourList& op, std::int64_t segment) {
  const T lower = static_cast<T>(op.cutoff_lower), upper = static_cast<T>(op.cutoff_upper);
  std::vector<Pair> pairs;
  for (std::int64_t i = op.segments->begin(segment); i < op.segments->end(segment); ++i)
    for (std::int64_t j = op.segments->begin(segment); j < op.segments->end(segment); ++j) {
      const Pair pair{static_cast<std::int32_t>(i), static_cast<std::int32_t>(j)};
      const T squared = displacement<T>(op, segment, pair).squared();
      const bool within = squared >= lower * lower && squared < upper * upper;
      if (i == j ? op.self_pairs : within) pairs.push_back(pair);
    }
  return pairs;
}

template <class T>
void write_edge(const NeighbourList& op, std::int64_t e, Pair pair, const Displacement<T>& r) {
  op.edges.receivers.as<std::int32_t>()[e] = pair.receiver;
  op.edges.neighbours.as<std::int32_t>()[e] = pair.neighbour;
  op.edges.reverse.as<std::int32_t>()[e] = static_cast<std::int32_t>(e);
  T* const to = op.edges.displacement.as<T>() + 3 * e;
  to[0] = r.x, to[1] = r.y, to[2] = r.z;
  op.edges.distance.as<T>()[e] = std::sqrt(r.squared());
}

void find_reverse(const Edges& edges, std::int64_t n) {
  const auto* const starts = edges.starts.as<std::int32_t>();
  const auto* const receivers = edges.receivers.as<std::int32_t>();
  const auto* const neighbours = edges.neighbours.as<std::int32_t>();
  for (std::int64_t e = 0; e < n; ++e)
    for (std::int32_t other = starts[neighbours[e]]; other < starts[neighbours[e] + 1]; ++other)
      if (neighbours[other] == receivers[e]) edges.reverse.as<std::int32_t>()[e] = other;
}

template <class T>
void list_neighbours(const NeighbourList& op) {
  const Edges& edges = op.edges;
  const bool fills = !edges.neighbours.empty();
  const std::int64_t limit =
      fills ? edges.capacity() : std::int64_t{std::numeric_limits<std::int32_t>::max()};
  auto* const starts = edges.starts.as<std::int32_t>();
  std::fill_n(starts, edges.n_atoms() + 1, 0);
  std::int64_t count = 0;
  for (std::int64_t s = 0; s < op.segments->n_segments; ++s)
    for (const Pair pair : pairs_of<T>(op, s)) {
      if (fills && count < limit) write_edge<T>(op, count, pair, displacement<T>(op, s, pair));
      ++count;
      starts[pair.receiver + 1] = static_cast<std::int32_t>(std::min(count, limit));
    }
  for (std::int64_t i = 0; i < edges.n_atoms(); ++i)
    starts[i + 1] = std::max(starts[i], starts[i + 1]);
  *edges.count.as<std::int32_t>() = static_cast<std::int32_t>(
      std::min<std::int64_t>(count, std::numeric_limits<std::int32_t>::max()));
  if (!fills) return;
  const T zeros[3] = {};
  for (std::int64_t e = count; e < limit; ++e)
    write_edge<T>(op, e, {0, 0}, Displacement<T>(zeros, zeros, nullptr));
  find_reverse(edges, std::min(count, limit));
}

}  // namespace

void neighbour_list_ref(const NeighbourList& op) {
  if (op.all_images) return neighbour_images_ref(op);
  reference::with_real(op.positions, [&](auto real) { list_neighbours<decltype(real)>(op); });
}

}  // namespace biogpu::ops
