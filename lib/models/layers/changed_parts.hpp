#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lib/models/base/dna_model.hpp"
#include "lib/models/base/pass.hpp"
#include "lib/models/layers/tower_reach.hpp"
#include "lib/tensor/arena.hpp"
#include "lib/tensor/tensor.hpp"

namespace biogpu::models {

// Whether a tower computes less of a window that differs from a kept one if it computes a part.
bool is_near_for(const TowerReach& reach, std::span<const std::uint8_t> kept,
                 std::span<const std::uint8_t> changed);

// What a tower computes again of windows that are near their kept ones: of each a part, in which
// all rows are that its letters reach.
class ChangedParts {
 public:
  ChangedParts(const TowerReach& reach, std::span<const ChangedWindow> windows);

  std::int64_t n_windows() const { return static_cast<std::int64_t>(windows_.size()); }
  // Of a part, in rows of the tower's result.
  std::int64_t n_rows() const { return n_rows_; }
  const std::vector<std::uint8_t>& letters() const { return letters_; }  // of all parts
  // Where the rows of all windows are: among those of n_slots slots, then of the parts. times: rows
  // there, on the way to the tower's result, for one of the result.
  std::vector<std::int32_t> rows(std::int64_t times, std::size_t n_slots) const;

 private:
  struct Window {
    RowRange reached, part;
    std::int64_t slot = 0;  // of the kept window
  };
  const std::int64_t n_window_rows_;
  std::int64_t n_rows_ = 0;
  std::vector<std::uint8_t> letters_;
  std::vector<Window> windows_;
};

// Rows of the tower that are kept of windows, and those that parts get.
class PartRows {
 public:
  // array: of the store. times: see ChangedParts.
  PartRows(Pass& pass, const ChangedParts& parts, const KeptStore& store, std::size_t array,
           std::int64_t times);

  // Puts the rows of windows together, of parts where letters reach them. All of one type.
  void join(Pass& pass, const tensor::Tensor& parts, const tensor::Tensor& windows) const;
  std::int64_t n_rows() const { return rows_.shape[0]; }  // of all windows

 private:
  tensor::Tensor kept_;  // of all slots
  tensor::Tensor rows_;  // i32
};

}  // namespace biogpu::models
