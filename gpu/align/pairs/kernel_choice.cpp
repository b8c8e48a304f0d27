#include "gpu/align/pairs/kernel_choice.hpp"

#include <algorithm>
#include <limits>

#include "gpu/align/pairs/pair_cells.hpp"
#include "gpu/align/pairs/pair_i16.hpp"

namespace biogpu::gpu::align {
namespace {

// What a step costs besides its rows, in rows.
constexpr std::int64_t kRowsOfStep = 5;
// Tiles of a pair are filled one after the other, by few lanes where the shape is small: no more of
// them than this, or the last pairs of a batch keep a device waiting.
constexpr int kMaxTiles = 4;

// The shape of the list that takes the fewest lane instructions; of equals the larger tile.
template <class Shapes>
KernelChoice cheapest(const Shapes& shapes, std::int64_t n_rows, std::int64_t n_columns,
                      bool packed) {
  KernelChoice best;
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const GroupShape& shape = shapes[i];
    const int n_tiles = count_tiles(shape, n_rows);
    if (n_tiles > kMaxTiles * (shape.n_lanes / 8) && i + 1 < shapes.size()) continue;
    const std::int64_t work =
        n_tiles * (n_columns + shape.n_lanes - 1) * shape.n_lanes * (shape.n_rows + kRowsOfStep);
    if (work > least) continue;
    least = work;
    best = {packed, static_cast<std::int32_t>(i), n_tiles};
  }
  return best;
}

// Whether no cell leaves 16 bits. n_rows is rounded up to tiles, so that the bound holds for the
// pair in the other half of the words too: it has as many tiles and no more columns.
bool fits_packed(std::int64_t n_rows, std::int64_t n_columns, const BatchSettings& settings) {
  const CellScheme& s = settings.scheme;
  if (std::min(n_rows, n_columns) * std::max(settings.max_score, 0) > kPackedLimit) return false;
  if (s.local) return true;
  return 3 * s.gap_open + (n_rows + n_columns) * s.gap_extend <= kPackedLimit;
}

// Whether what the packed kernels compare for a trace, a cell and the states of its gaps, differs
// by less than the guards of dp_i16x2.hpp.
bool fits_trace(const BatchSettings& settings) {
  if (!settings.with_path) return true;
  constexpr std::int64_t kMinGuard = 256;
  const std::int64_t cost = std::max(settings.scheme.gap_open, settings.scheme.gap_extend);
  return 3 * cost + 2 * std::max(settings.max_score, 0) + std::max(-settings.min_score, 0) <
         kMinGuard;
}

}  // namespace

GroupShape KernelChoice::group() const {
  const auto index = static_cast<std::size_t>(shape);
  return packed ? kPackedShapes[index] : kPairShapes[index];
}

int packed_raise(const BatchSettings& settings) { return std::max(-settings.min_score, 0); }

int packed_bias(const BatchSettings& settings) {
  const CellScheme& s = settings.scheme;
  if (!s.local) return kPackedMiddle;
  return std::max(packed_raise(settings), s.gap_open + s.gap_extend);
}

bool allows_packed(const BatchSettings& settings) {
  const CellScheme& s = settings.scheme;
  return packed_raise(settings) + std::max(settings.max_score, 0) <= 127 &&
         s.gap_open <= kPackedLimit / 3 && s.gap_extend <= kPackedLimit / 3;
}

KernelChoice choose_kernel(std::int64_t n_rows, std::int64_t n_columns, bool four_letters,
                           const BatchSettings& settings) {
  if (four_letters && allows_packed(settings) && fits_trace(settings)) {
    const KernelChoice packed = cheapest(kPackedShapes, n_rows, n_columns, true);
    const std::int64_t rows = std::int64_t{packed.n_tiles} * packed.group().tile_rows();
    if (fits_packed(rows, n_columns, settings)) return packed;
  }
  return cheapest(kPairShapes, n_rows, n_columns, false);
}

std::uint64_t pair_bytes(std::int64_t n_rows, std::int64_t n_columns, const KernelChoice& choice,
                         const BatchSettings& settings) {
  const auto m = static_cast<std::uint64_t>(n_rows);
  const auto n = static_cast<std::uint64_t>(n_columns);
  std::uint64_t bytes = m + n + sizeof(PairTask) + sizeof(PairEnd);
  if (choice.n_tiles > 1) bytes += n * sizeof(BorderCell);
  if (!settings.with_path) return bytes;
  bytes += sizeof(PairPath);
  if (settings.with_runs) bytes += 2 * (m + n) * sizeof(std::uint32_t);
  // Two packed pairs share a trace, but one may be left alone.
  const std::uint64_t words = choice.packed
                                  ? count_packed_trace_words(choice.group(), n_rows, n_columns)
                                  : count_trace_words(choice.group(), n_rows, n_columns);
  return bytes + words * sizeof(std::uint32_t);
}

}  // namespace biogpu::gpu::align
