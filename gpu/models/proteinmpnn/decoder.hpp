#pragma once

#include <cstdint>

#include "gpu/models/proteinmpnn/structures.hpp"
#include "gpu/rt/stream.hpp"

namespace biogpu::gpu::proteinmpnn {

inline constexpr std::uint8_t kNoLetter = 255;  // all letters of a residue are omitted

// A sequence of one of the structures; its states are the rows [first_state, first_state + n) of
// the arrays below.
struct Sequence {
  std::int32_t first_row = 0;
  std::int32_t first_state = 0;
  std::int32_t n = 0;
  std::int32_t rules = 0;  // which Rules
  double temperature = 1;
};

struct Sequences {
  std::int32_t n_states = 0;
  const Sequence* sequences = nullptr;
  const std::int32_t* sequence_of = nullptr;  // [states]
  const std::int32_t* order = nullptr;        // [states] residues in their decoding order
  const std::int32_t* rank = nullptr;         // [states] place of each residue in it
  std::uint8_t* letters = nullptr;            // [states] the structure's, or those to score
  float* seen[kLayers] = {};                  // [states][kHidden] what decoded residues add
  float* log_probabilities = nullptr;         // [states][kLetters]
};

// What a design of one structure may do. Optional arrays have a row for each of its residues.
struct Rules {
  double bias[kLetters] = {};
  std::uint8_t omit[kLetters] = {};
  std::uint8_t is_tied = 0;  // any residue is
  std::uint8_t use_profile_bias = 0;
  std::uint8_t use_log_odds = 0;
  float profile_weight = 0;
  float log_odds_threshold = 0;
  std::int32_t omit_at = -1;  // first row of RuleRows::omit_at, or -1: none
  std::int32_t bias_at = -1;
  std::int32_t profiles = -1;
};

struct ProfileRow {
  float weight = 0;
  float bias[kLetters] = {};
  float log_odds[kLetters] = {};
};

struct RuleRows {
  const Rules* rules = nullptr;
  const std::uint8_t* free = nullptr;     // [rows of structures]
  const float* tied_weight = nullptr;     // [rows of structures]
  const std::uint8_t* omit_at = nullptr;  // [...][kLetters]
  const float* bias_at = nullptr;         // [...][kLetters]
  const ProfileRow* profiles = nullptr;
};

// Residues of one sequence that get one letter.
struct Unit {
  std::int32_t sequence = 0;
  std::int32_t begin = 0;  // place of the first in the order
  std::int32_t n = 0;
};

struct DecodeArgs {
  Structures structures;
  Encoded encoded;
  DecoderWeights weights;
  Sequences sequences;
  RuleRows rules;
  const Unit* units = nullptr;  // each behind all of its own sequence that come before it
  std::int32_t n_units = 0;
  std::uint32_t* next_unit = nullptr;  // 0
  std::uint32_t* done = nullptr;       // [states] 0
  const double* uniforms = nullptr;    // [states]
  float* probabilities = nullptr;      // [states][kLetters] 0, or none
};

// Draws the letters of all units. Log-probabilities are those of each residue as it was decoded.
void launch_decode(const DecodeArgs& args, Stream& stream);

struct ScoreArgs {
  Structures structures;
  Encoded encoded;
  DecoderWeights weights;
  Sequences sequences;
  float* h = nullptr;         // [states][kHidden] room
  float* receiver = nullptr;  // [states][kHidden] room
};

// Log-probabilities of given letters, all residues at once.
void launch_score(const ScoreArgs& args, Stream& stream);

}  // namespace biogpu::gpu::proteinmpnn
