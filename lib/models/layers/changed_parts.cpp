#include "lib/models/layers/changed_parts.hpp"

#include <algorithm>

#include "lib/models/layers/window_rows.hpp"
#include "lib/ops/gather/gather_rows.hpp"

namespace biogpu::models {

using tensor::Tensor;

bool is_near_for(const TowerReach& reach, std::span<const std::uint8_t> kept,
                 std::span<const std::uint8_t> changed) {
  if (!reach.has_whole_bins()) return false;  // the last bin is another one in a part
  constexpr std::int64_t kWorth = 4;  // less is not saved by more work to put parts together
  return kWorth * reach.part_size(reach.reached(differing(kept, changed))) <= reach.n_rows();
}

ChangedParts::ChangedParts(const TowerReach& reach, std::span<const ChangedWindow> windows)
    : n_window_rows_(reach.n_rows()) {
  constexpr std::int64_t kUnit = 4;  // few sizes, so that equal passes come again
  for (const ChangedWindow& window : windows) {
    const RowRange reached = reach.reached(differing(window.kept->letters, window.letters));
    n_rows_ = std::max(n_rows_, reach.part_size(reached));
    windows_.push_back({reached, {}, static_cast<std::int64_t>(*window.kept->slot)});
  }
  n_rows_ = std::min(reach.n_rows(), (n_rows_ + kUnit - 1) / kUnit * kUnit);
  const std::int64_t bin = reach.bin_size();
  for (std::size_t w = 0; w < windows.size(); ++w) {
    const RowRange part = windows_[w].part = reach.part(windows_[w].reached, n_rows_);
    const auto letters = windows[w].letters.subspan(static_cast<std::size_t>(part.begin * bin),
                                                    static_cast<std::size_t>(part.size() * bin));
    letters_.insert(letters_.end(), letters.begin(), letters.end());
  }
}

std::vector<std::int32_t> ChangedParts::rows(std::int64_t times, std::size_t n_slots) const {
  std::vector<std::int32_t> rows;
  const std::int64_t n_kept = static_cast<std::int64_t>(n_slots) * n_window_rows_;
  require_window_rows(n_kept + n_windows() * n_rows_, times);
  std::int64_t first_row = times * n_kept;  // of the part
  for (const Window& window : windows_) {
    for (std::int64_t i = 0; i < times * n_window_rows_; ++i) {
      const bool is_new = i >= times * window.reached.begin && i < times * window.reached.end;
      rows.push_back(static_cast<std::int32_t>(is_new ? first_row + i - times * window.part.begin
                                                      : times * window.slot * n_window_rows_ + i));
    }
    first_row += times * n_rows_;
  }
  return rows;
}

PartRows::PartRows(Pass& pass, const ChangedParts& parts, const KeptStore& store, std::size_t array,
                   std::int64_t times)
    : kept_(store.rows(array)), rows_(pass.upload(parts.rows(times, store.n_slots()))) {
  pass.depends_on(reinterpret_cast<std::uintptr_t>(kept_.data));
  pass.depends_on(static_cast<std::uint64_t>(kept_.shape[0]));
}

void PartRows::join(Pass& pass, const Tensor& parts, const Tensor& windows) const {
  ops::gather_rows(pass.context(), {kept_, rows_, windows, parts});
}

}  // namespace biogpu::models
