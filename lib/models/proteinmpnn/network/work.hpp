#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lib/models/proteinmpnn/inputs/constraints.hpp"

namespace biogpu::models::proteinmpnn {

// The order in which residues are decoded: units of tied residues, or of one.
struct DecodingOrder {
  std::vector<std::int32_t> residues;    // [n] in this order
  std::vector<std::int32_t> rank;        // [n] place of each residue in it
  std::vector<std::int32_t> unit_begin;  // [units + 1] into residues
};

// By (free + 1e-4) |noise|, rising: what is not free comes first. noise: [n], normal. A tied group
// comes whole where its first member would.
DecodingOrder make_order(const Constraints& constraints, const std::vector<float>& noise);

// One sequence to draw for a structure, and what came out.
struct Sample {
  double temperature = 0.1;
  DecodingOrder order;
  std::vector<double> uniforms;  // [n] in [0, 1); of a tied group the last member's counts

  std::vector<std::uint8_t> letters;     // [n]
  std::vector<float> log_probabilities;  // [n][21] without temperature and constraints
  std::vector<float> probabilities;      // [n][21] that letters were drawn from, 0 where none was
};

// For residue i, to which no letter can be given: Error{bad_input} where all are omitted,
// Error{failed} where its log-probabilities are no numbers.
[[noreturn]] void throw_no_letter(const Complex& complex, const Sample& sample, std::int64_t i);
// Error{failed}: a result is NaN or infinite.
[[noreturn]] void throw_not_finite(const Complex& complex);

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
