#include "lib/ops/neighbours/edges.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

#include "lib/tensor/arena.hpp"

#include "lib/core/error.hpp"
#include "lib/tensor/context.hpp"

namespace biogpu::ops {

Edges take_edge_counts(tensor::Arena& arena, std::int64_t n_atoms) {
  Edges edges;
  edges.starts = arena.take(DType::i32, {n_atoms + 1});
  edges.count = arena.take(DType::i32, {1});
  return edges;
}

Edges take_edges(tensor::Arena& arena, std::int64_t n_atoms, std::int64_t capacity,
                 bool all_images) {
  Edges edges = take_edge_counts(arena, n_atoms);
  edges.receivers = arena.take(DType::i32, {capacity});
  edges.neighbours = arena.take(DType::i32, {capacity});
  edges.reverse = arena.take(DType::i32, {capacity});
  edges.displacement = arena.take(DType::f32, {capacity, 3});
  edges.distance = arena.take(DType::f32, {capacity});
  if (all_images) edges.images = arena.take(DType::i32, {capacity});
  return edges;
}

std::int64_t edge_capacity(std::int64_t n) {
  constexpr std::int64_t kSmallest = 256;
  if (n <= kSmallest) return kSmallest;
  const auto below = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(n - 1)));
  const std::int64_t step = below / 8;
  return std::min<std::int64_t>((n + step - 1) / step * step,
                                std::numeric_limits<std::int32_t>::max() - 1);
}

std::int64_t read_edge_count(Context& context, const Edges& edges) {
  if (context.kind() == Context::Kind::dry_run) return 0;
  float bits = 0;  // numbers of 4 bytes are copied as they are
  context.copy_out(&bits, Tensor(edges.count.data, DType::f32, {1, 1}));
  context.synchronize();
  return checked_edge_count(std::bit_cast<std::int32_t>(bits));
}

std::int64_t checked_edge_count(std::int32_t count) {
  if (count == std::numeric_limits<std::int32_t>::max())
    throw Error(ErrorCode::bad_input, "more than 2147483646 pairs of atoms within the cutoff");
  return count;
}

}  // namespace biogpu::ops
