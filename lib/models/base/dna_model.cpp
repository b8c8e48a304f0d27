#include "lib/models/base/dna_model.hpp"

#include <fmt/format.h>

#include <string>

#include "lib/core/error.hpp"

namespace biogpu::models {

KeptWindow DnaModel::kept_window(const Outputs& outputs, std::size_t i, std::size_t n,
                                 std::span<const std::uint8_t> letters) {
  KeptWindow window;
  window.letters.assign(letters.begin(), letters.end());
  for (const Outputs::Array& array : outputs.arrays()) {
    if (!array.name.starts_with(kKept)) continue;
    const std::size_t size = array.values.size() / n;
    std::vector<std::int64_t> shape = array.shape;
    shape[0] /= static_cast<std::int64_t>(n);
    window.arrays.add({array.name, shape, array.values.piece(i * size, size)});
  }
  return window;
}

void DnaModel::require_strands() const {
  if (info_.window % info_.bin_size == 0) return;
  throw Error(
      ErrorCode::usage,
      fmt::format("--strands both: windows of {} bases are no whole bins of {}, so the bins "
                  "of the other strand are others; use --strands forward",
                  info_.window, info_.bin_size));
}

bool DnaModel::is_near(std::span<const std::uint8_t> kept,
                       std::span<const std::uint8_t> changed) const {
  static_cast<void>(kept);
  static_cast<void>(changed);
  return false;
}

Outputs DnaModel::run_changed(std::span<const ChangedWindow> windows, const Request& request) {
  std::vector<std::uint8_t> letters;
  for (const ChangedWindow& window : windows)
    letters.insert(letters.end(), window.letters.begin(), window.letters.end());
  return run(letters, request);
}

}  // namespace biogpu::models
