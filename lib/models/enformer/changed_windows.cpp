// Windows that differ from kept ones in some letters.
#include <algorithm>
#include <iterator>
#include <vector>

#include "lib/models/enformer/batch.hpp"
#include "lib/models/enformer/enformer.hpp"
#include "lib/ops/gather/gather_rows.hpp"

namespace biogpu::models {

using enformer::kKeptPositions;
using tensor::DType;
using tensor::Tensor;

// What is computed again of changed windows.
struct Enformer::Parts {
  std::int64_t n_rows = 0;              // of a part, in positions
  std::vector<std::uint8_t> letters;    // of all parts
  std::vector<const KeptWindow*> kept;  // each once
  std::vector<std::int32_t> rows;       // of all windows' positions, in those of `kept`, then parts
};

bool Enformer::is_near(std::span<const std::uint8_t> kept,
                       std::span<const std::uint8_t> changed) const {
  constexpr std::int64_t kWorth = 4;  // less is not saved by more work to put parts together
  const RowRange reached = reach_.reached(differing(kept, changed));
  return kWorth * reach_.part_size(reached) <= reach_.n_rows();
}

Enformer::Parts Enformer::cut_parts(std::span<const ChangedWindow> windows) const {
  constexpr std::int64_t kUnit = 4;  // few sizes, so that equal passes come again
  Parts parts;
  std::vector<RowRange> reached;
  for (const ChangedWindow& window : windows) {
    reached.push_back(reach_.reached(differing(window.kept->letters, window.letters)));
    parts.n_rows = std::max(parts.n_rows, reach_.part_size(reached.back()));
    if (std::find(parts.kept.begin(), parts.kept.end(), window.kept) == parts.kept.end())
      parts.kept.push_back(window.kept);
  }
  parts.n_rows = std::min(reach_.n_rows(), (parts.n_rows + kUnit - 1) / kUnit * kUnit);
  const std::int64_t n_positions = config_.n_positions, bin = reach_.bin_size();
  std::int64_t first_row = std::ssize(parts.kept) * n_positions;  // of the part
  for (std::size_t w = 0; w < windows.size(); ++w, first_row += parts.n_rows) {
    const RowRange part = reach_.part(reached[w], parts.n_rows);
    const auto letters = windows[w].letters.subspan(static_cast<std::size_t>(part.begin * bin),
                                                    static_cast<std::size_t>(part.size() * bin));
    parts.letters.insert(parts.letters.end(), letters.begin(), letters.end());
    const std::int64_t of_kept =
        n_positions *
        (std::find(parts.kept.begin(), parts.kept.end(), windows[w].kept) - parts.kept.begin());
    for (std::int64_t i = 0; i < n_positions; ++i) {
      const bool is_new = i >= reached[w].begin && i < reached[w].end;
      parts.rows.push_back(
          static_cast<std::int32_t>(is_new ? first_row + i - part.begin : of_kept + i));
    }
  }
  return parts;
}

Outputs Enformer::run_changed(std::span<const ChangedWindow> windows, const Request& request) {
  const Parts parts = cut_parts(windows);
  return run_pass([&](Pass& pass) { forward_changed(pass, parts, std::ssize(windows), request); });
}

// The tower runs over parts alone; the transformer reads their rows and those that are kept.
void Enformer::forward_changed(Pass& pass, const Parts& parts, std::int64_t n_windows,
                               const Request& request) const {
  const std::int64_t n_positions = config_.n_positions, width = config_.width;
  const std::int64_t n_kept = std::ssize(parts.kept) * n_positions;
  const std::int64_t n_new = n_windows * parts.n_rows;
  const Batch batch =
      make_batch(pass, parts.letters, parts.n_rows * reach_.bin_size(), n_windows, request);
  const Tensor rows = pass.upload(parts.rows);
  const Tensor source = pass.arena().take(DType::f32, {n_kept + n_new, width});
  pass.depends_on(static_cast<std::uint64_t>(n_kept));
  for (std::size_t i = 0; i < parts.kept.size(); ++i) {
    const auto first = static_cast<std::int64_t>(i) * n_positions;
    pass.context().copy_in(source.slice(0, first, first + n_positions),
                           parts.kept[i]->arrays.at(kKeptPositions).values.data());
  }
  Request wanted = request;
  wanted.parts = false;
  take_outputs(pass, batch, wanted);
  pass.run([&] {
    const auto scope = pass.arena().scope();
    const Tensor x = pass.arena().take(DType::f32, {batch.positions.n_rows, width});
    tower(pass, batch, source.slice(0, n_kept, n_kept + n_new));
    ops::gather_rows(pass.context(), {source, rows, x});
    finish(pass, batch, request, transformer(pass, batch, x));
  });
}

}  // namespace biogpu::models
