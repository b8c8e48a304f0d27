#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "lib/io/arrays/shared_array.hpp"
#include "lib/models/base/model.hpp"

namespace biogpu::models {

// What a model of the task `trunk` reads: widths of tokens (single), of their pairs, of an
// alignment's rows, and of the tokens of a diffusion transformer (noisy). 0: it reads none.
struct TrunkShape {
  std::int64_t c_single = 0, c_pair = 0, c_msa = 0, c_noisy = 0;
  bool has_pair_mask = false;
};

// One input. Empty: not given.
struct TrunkInput {
  std::int64_t n_tokens = 0;
  io::SharedArray single;     // [N, c_single]
  io::SharedArray pair;       // [N, N, c_pair]
  io::SharedArray noisy;      // [N, c_noisy]
  io::SharedArray mask;       // [N] of 0 and 1: tokens that are no padding
  io::SharedArray pair_mask;  // [N, N] of 0 and 1; else the product of the tokens' masks
  // The rows of an alignment.
  std::int64_t n_rows = 0;
  io::SharedArray msa;       // [S, N, c_msa]
  io::SharedArray msa_mask;  // [S, N] of 0 and 1
};

// Blocks over arrays of tokens and their pairs.
class TrunkModel : public Model {
 public:
  virtual TrunkShape shape() const = 0;
  // "Pairformer of 16 blocks, 1234 parameters"
  virtual std::string title() const = 0;
  // The names of what run() gives: "s", "z", "a".
  virtual std::vector<std::string> outputs() const = 0;
  // What becomes of the arrays. Throws Error{device_memory} where they do not fit.
  virtual Outputs run(const TrunkInput& input) = 0;
  // Bytes of a pass over so many tokens, and rows of an alignment where the model reads one.
  virtual std::size_t measure(std::int64_t n_tokens, std::int64_t n_rows = 1) const = 0;

 protected:
  using Model::Model;
};

}  // namespace biogpu::models
