#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lib/models/proteinmpnn/sample.hpp"

namespace biogpu::models::proteinmpnn {

// A given sequence of a structure, and what came out.
struct Scoring {
  DecodingOrder order;
  std::vector<std::uint8_t> letters;     // [n]
  std::vector<float> log_probabilities;  // [n][21]
};

// For tests: neighbours and distances [n][k], features and edges after the encoder
// [n][k][kHidden], residues [n][kHidden]. k: neighbours of each residue.
struct EncoderTaps {
  std::int64_t k = 0;
  std::vector<std::int32_t> neighbours;
  std::vector<float> distances, features, edges, h;
};

// One encoding of a structure with all that is to be computed from it. Nothing is owned.
struct Work {
  const Complex* complex = nullptr;
  const Constraints* constraints = nullptr;
  const std::vector<float>* noise = nullptr;  // added to the coordinates; or none
  std::span<Sample> samples;
  std::span<Scoring> scorings;
  EncoderTaps* taps = nullptr;  // or none
};

}  // namespace biogpu::models::proteinmpnn
