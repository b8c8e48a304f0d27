#include "gpu/align/long/long_aligner.hpp"

#include <algorithm>

#include "gpu/rt/device.hpp"
#include "gpu/rt/error.hpp"
#include "gpu/rt/transfer.hpp"

namespace biogpu::gpu::align {
namespace {

// Rows of borders that the forward pass needs at once: that above, that being written, and that of
// the diagonal before, which holds the corner.
constexpr std::int32_t kRowsForward = 3;
constexpr std::int32_t kColumnsForward = 2;
constexpr std::int32_t kFirstBlockColumns = 512;
// The borders between strips: those of the one above and those being written. Without a path they
// lie in the rows of borders that the blocks would use.
constexpr std::uint64_t kRowsOfStrips = 2;
constexpr std::uint64_t kRoundingBytes = 12 * 256;

std::int64_t count_blocks(std::int64_t n, std::int64_t block) { return (n + block - 1) / block; }

std::uint64_t count_ends(std::int64_t m, std::int64_t block_rows) {
  return static_cast<std::uint64_t>(
      std::max<std::int64_t>(count_blocks(m, block_rows), count_strips(m)));
}

std::uint64_t plan_bytes(std::int64_t m, std::int64_t n, bool with_path, const LongPlan& plan) {
  const auto rows = static_cast<std::uint64_t>(m);
  const auto columns = static_cast<std::uint64_t>(n);
  std::uint64_t bytes = rows + columns + kRoundingBytes;
  bytes += static_cast<std::uint64_t>(plan.n_kept_rows) * columns * sizeof(BorderCell);
  bytes += static_cast<std::uint64_t>(plan.n_kept_columns) * rows * sizeof(BorderCell);
  const auto strips = static_cast<std::uint64_t>(count_strips(m));
  bytes += count_ends(m, plan.block_rows) * sizeof(BlockRowEnds);
  bytes += (strips + 1) * sizeof(std::uint32_t);
  if (!with_path) return bytes;
  bytes += kRowsOfStrips * columns * sizeof(BorderCell);
  bytes += count_trace_words(kLongShape, std::min<std::int64_t>(m, plan.block_rows),
                             std::min<std::int64_t>(n, plan.block_columns)) *
           sizeof(std::uint32_t);
  return bytes + (rows + columns) * sizeof(std::uint32_t) + traceback_state_bytes() +
         sizeof(PairPath);
}

LongPlan make_plan(std::int64_t m, std::int64_t n, bool with_path, std::int32_t block_rows,
                   std::int32_t block_columns) {
  LongPlan plan;
  plan.block_rows = block_rows;
  plan.block_columns = block_columns;
  plan.n_kept_rows = kRowsForward;
  plan.n_kept_columns = kColumnsForward;
  if (with_path) {
    plan.n_kept_rows = static_cast<std::int32_t>(count_blocks(m, block_rows));
    plan.n_kept_columns = static_cast<std::int32_t>(count_blocks(n, block_columns));
  }
  plan.bytes = plan_bytes(m, n, with_path, plan);
  return plan;
}

// Whether a is the end rather than b, by the rule inside one row or column and for local ends.
bool is_better_end(const PairEnd& a, const PairEnd& b) {
  if (a.score != b.score) return a.score > b.score;
  if (a.column != b.column) return a.column < b.column;
  return a.row < b.row;
}

}  // namespace

std::optional<LongPlan> plan_long_pair(std::int64_t n_rows, std::int64_t n_columns, bool with_path,
                                       std::uint64_t max_bytes) {
  std::int32_t block_rows = kLongShape.tile_rows();
  std::int32_t block_columns = kFirstBlockColumns;
  for (;;) {
    const LongPlan plan = make_plan(n_rows, n_columns, with_path, block_rows, block_columns);
    if (plan.bytes <= max_bytes) return plan;
    // Without a path the size of the blocks changes next to nothing.
    const bool can_grow_rows = with_path && block_rows < n_rows;
    const bool can_grow_columns = with_path && block_columns < n_columns;
    if (!can_grow_rows && !can_grow_columns) return std::nullopt;
    if (can_grow_rows && (block_rows <= block_columns || !can_grow_columns)) {
      block_rows *= 2;
    } else {
      block_columns *= 2;
    }
  }
}

LongAligner::LongAligner(const BatchSettings& settings)
    : settings_(settings),
      shared_bytes_(device_properties(current_device()).shared_bytes_per_block) {}

LongPairArgs LongAligner::carve(const LongInput& pair, const LongPlan& plan) {
  arena_.reset();
  const std::size_t m = pair.query.size();
  const std::size_t n = pair.target.size();
  LongPairArgs args;
  args.scheme = settings_.scheme;
  args.with_ends = settings_.with_ends;
  args.n_rows = static_cast<std::int32_t>(m);
  args.n_columns = static_cast<std::int32_t>(n);
  args.block_rows = plan.block_rows;
  args.block_columns = plan.block_columns;
  args.n_kept_rows = plan.n_kept_rows;
  args.n_kept_columns = plan.n_kept_columns;
  args.shared_bytes = shared_bytes_;
  auto* const query = arena_.take<std::uint8_t>(m);
  auto* const target = arena_.take<std::uint8_t>(n);
  args.kept_rows = arena_.take<BorderCell>(static_cast<std::size_t>(plan.n_kept_rows) * n);
  args.kept_columns = arena_.take<BorderCell>(static_cast<std::size_t>(plan.n_kept_columns) * m);
  args.ends = arena_.take<BlockRowEnds>(count_ends(args.n_rows, plan.block_rows));
  auto* const progress =
      arena_.take<std::uint32_t>(static_cast<std::size_t>(count_strips(args.n_rows)) + 1);
  args.strip_rows = args.kept_rows;
  bool fits = query != nullptr && target != nullptr && args.kept_rows != nullptr &&
              args.kept_columns != nullptr && args.ends != nullptr && progress != nullptr;
  if (settings_.with_path) {
    args.trace = arena_.take<std::uint32_t>(
        count_trace_words(kLongShape, std::min(args.n_rows, plan.block_rows),
                          std::min(args.n_columns, plan.block_columns)));
    args.traceback =
        reinterpret_cast<TracebackState*>(arena_.take<std::uint8_t>(traceback_state_bytes()));
    args.runs = arena_.take<std::uint32_t>(m + n);
    args.path = arena_.take<PairPath>(1);
    args.strip_rows = arena_.take<BorderCell>(kRowsOfStrips * n);
    fits = fits && args.strip_rows != nullptr && args.trace != nullptr &&
           args.traceback != nullptr && args.runs != nullptr && args.path != nullptr;
  }
  if (!fits)
    throw DeviceError(DeviceError::Kind::failed, "a long pair is larger than its workspace");
  stream_.copy_to_device(query, pair.query.data(), m);
  stream_.copy_to_device(target, pair.target.data(), n);
  args.query = query;
  args.target = target;
  args.strip_progress = progress + 1;
  return args;
}

PairEnd LongAligner::find_end(const LongPairArgs& args, std::size_t n_ends) {
  std::vector<BlockRowEnds> ends(n_ends);
  download(stream_, ends, args.ends);
  BlockRowEnds all = ends[0];
  for (const BlockRowEnds& row : ends) {
    if (is_better_end(row.best, all.best)) all.best = row.best;
    if (is_better_end(row.in_last_row, all.in_last_row)) all.in_last_row = row.in_last_row;
  }
  if (args.scheme.local) return all.best;
  const bool row_wins =
      all.in_last_row.score > all.best.score ||
      (all.in_last_row.score == all.best.score && all.in_last_row.column < args.n_columns - 1);
  return row_wins ? all.in_last_row : all.best;
}

void LongAligner::read_path(const LongPairArgs& args, LongResult& result) {
  result.path = download(stream_, args.path);
  result.runs.resize(result.path.n_runs);
  download(stream_, result.runs, args.runs);
  std::reverse(result.runs.begin(), result.runs.end());
}

LongResult LongAligner::align(const LongInput& pair, const LongPlan& plan) {
  if (arena_.capacity_bytes() < plan.bytes) {
    release();  // before the larger one is asked for
    arena_ = Arena(plan.bytes);
  }
  const LongPairArgs args = carve(pair, plan);
  const auto n_steps = static_cast<int>(count_blocks(args.n_rows, args.block_rows) +
                                        count_blocks(args.n_columns, args.block_columns));
  const bool four_letters =
      std::all_of(pair.target.begin(), pair.target.end(), [](std::uint8_t c) { return c < 4; });
  const bool in_strips = four_letters && fits_strips(settings_);
  start_.record(stream_);
  if (in_strips) {
    launch_long_strips(args, stream_);
  } else {
    for (int diagonal = 0; diagonal < n_steps - 1; ++diagonal)
      launch_long_diagonal(args, diagonal, stream_);
  }
  stop_.record(stream_);
  LongResult result;
  result.end = find_end(
      args, in_strips ? count_strips(args.n_rows) : count_blocks(args.n_rows, args.block_rows));
  seconds_ = stop_.seconds_since(start_);
  const bool nothing = args.scheme.local && result.end.score == 0;
  if (!settings_.with_path || nothing) return result;
  start_.record(stream_);
  launch_long_traceback_begin(args, result.end, stream_);
  for (int step = 0; step < n_steps; ++step) launch_long_traceback_step(args, stream_);
  launch_long_traceback_finish(args, stream_);
  stop_.record(stream_);
  read_path(args, result);
  seconds_ += stop_.seconds_since(start_);
  return result;
}

bool fits_strips(const BatchSettings& settings) {
  // A cell lies no more than half a strip below or above the one that the base follows, and no more
  // than twice the lanes of a wave and one round of steps away from it.
  constexpr int kFarthest = kStripRows / 2 + 208;
  constexpr int kRange = (1 << 14) - 2048;
  const CellScheme& s = settings.scheme;
  if (!allows_packed(settings) || s.gap_open < s.gap_extend) return false;
  const std::int64_t step =
      std::int64_t{std::max(s.gap_open, s.gap_extend)} + std::max(settings.max_score, 0);
  return step * kFarthest <= kRange;
}

}  // namespace biogpu::gpu::align
