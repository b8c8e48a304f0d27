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
  const std::vector<const KeptWindow*>& kept() const { return kept_; }   // each once
  // Where the rows of all windows are: among those of kept(), then of the parts. times: rows there,
  // on the way to the tower's result, for one of the result.
  std::vector<std::int32_t> rows(std::int64_t times) const;

 private:
  struct Window {
    RowRange reached, part;
    std::int64_t kept = 0;  // in kept()
  };
  const std::int64_t n_window_rows_;
  std::int64_t n_rows_ = 0;
  std::vector<std::uint8_t> letters_;
  std::vector<const KeptWindow*> kept_;
  std::vector<Window> windows_;
};

// An array of the tower that kept windows have, and that parts get: the rows of both.
class PartRows {
 public:
  // Takes memory for them and copies in what is kept under the name. times: see ChangedParts.
  PartRows(Pass& pass, const ChangedParts& parts, const char* name, std::int64_t times,
           std::int64_t width);

  // Those of the parts, f32, which the tower fills.
  tensor::Tensor of_parts() const { return source_.slice(0, n_kept_, source_.shape[0]); }
  // Puts those of all windows together.
  void join(Pass& pass, const tensor::Tensor& windows) const;
  std::int64_t n_rows() const { return rows_.shape[0]; }  // of all windows

 private:
  std::int64_t n_kept_ = 0;
  tensor::Tensor source_;  // f32 [kept, then parts, width]
  tensor::Tensor rows_;    // i32
};

}  // namespace biogpu::models
