#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace biogpu::models {

inline constexpr std::int64_t kLetterTaps = 15;  // of a tower's first convolution
inline constexpr std::int64_t kTowerTaps = 5;    // of the others

// Rows [begin, end).
struct RowRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  std::int64_t size() const { return end - begin; }
  bool operator==(const RowRange&) const = default;
};

// How far letters reach in a tower of levels, each a convolution with zeros around it, and a pool
// of two rows into one.
class TowerReach {
 public:
  // taps: of each level's convolution, odd; n_letters: of the window.
  TowerReach(std::vector<std::int64_t> taps, std::int64_t n_letters);

  std::int64_t bin_size() const { return std::int64_t{1} << taps_.size(); }
  // Whether the window is whole bins: the rest is about such windows alone.
  bool has_whole_bins() const { return n_letters_ % bin_size() == 0; }
  std::int64_t n_rows() const { return n_letters_ / bin_size(); }
  // The rows of the tower's result that letters decide on.
  RowRange reached(RowRange letters) const;
  // How many rows at an end of a part of the window differ from the whole window's, as zeros are
  // there in place of letters.
  std::int64_t margin() const;
  // Rows whose letters alone give all of `reached`, margins included: n_part of them, or all.
  RowRange part(RowRange reached, std::int64_t n_part) const;
  // The least n_part for that.
  std::int64_t part_size(RowRange reached) const;

 private:
  std::vector<std::int64_t> taps_;
  std::int64_t n_letters_;
};

// From the first letter that differs to behind the last; empty where none does.
RowRange differing(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b);

}  // namespace biogpu::models
