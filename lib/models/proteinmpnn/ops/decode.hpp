#pragma once

#include <cstdint>

#include "lib/models/proteinmpnn/ops/edge_message.hpp"

namespace biogpu::models::proteinmpnn {

inline constexpr int kHidden = 128;
inline constexpr int kLayers = 3;  // of the encoder, and of the decoder
inline constexpr std::int64_t kLetterCount = 21;
inline constexpr int kNoLetter = 255;  // all letters of a residue are omitted
// Columns of what a residue adds to messages: of each layer as receiver, then as sender.
inline constexpr int kNodeProj = 2 * kHidden * kLayers;

// A sequence of one of the structures; its states are rows [first_state, first_state + n) of the
// arrays of states.
struct Sequence {
  std::int32_t first_row = 0;
  std::int32_t first_state = 0;
  std::int32_t n = 0;
  std::int32_t rules = 0;  // which Rules
  double temperature = 1;
};

// Residues of one sequence that get one letter.
struct Unit {
  std::int32_t sequence = 0;
  std::int32_t begin = 0;  // place of the first in the order
  std::int32_t n = 0;
};

// What a design of one structure may do.
struct Rules {
  double bias[kLetterCount] = {};        // added to the logits, over the temperature
  std::uint8_t omit[kLetterCount] = {};  // 1: never drawn
  std::uint8_t is_tied = 0;              // any residue is
  std::uint8_t use_profile_bias = 0;
  std::uint8_t use_log_odds = 0;
  float profile_weight = 0;
  float log_odds_threshold = 0;
  std::int32_t omit_at = -1;  // first row of RuleRows::omit_at, or -1: none
  std::int32_t bias_at = -1;
  std::int32_t profiles = -1;
};

// A position-specific matrix of a designed residue.
struct ProfileRow {
  float weight = 0;                   // share of bias in the probabilities
  float bias[kLetterCount] = {};      // probabilities
  float log_odds[kLetterCount] = {};  // letters above the threshold are likely
};

// The rules of all structures; optional arrays have a row for each residue of those that use them.
struct RuleRows {
  const Rules* rules = nullptr;
  const std::uint8_t* free = nullptr;     // [rows of structures]
  const float* tied_weight = nullptr;     // [rows of structures]
  const std::uint8_t* omit_at = nullptr;  // [...][kLetterCount]
  const float* bias_at = nullptr;         // [...][kLetterCount]
  const ProfileRow* profiles = nullptr;
};

struct DecoderLayer {
  const Linear* middle = nullptr;  // of messages, BlockUse::edges
  NodeUpdate update;
  const Linear* node_proj = nullptr;  // [2 d, d], BlockUse::node; none of layer 0
  Tensor letters;  // f32 [kLetterCount, 2 d]: what a letter adds as sender, behind zeros
};

// Draws the letters of sequences, residue by residue in each one's order. A residue needs only the
// neighbours that come before it: what it gets from one that does not is what the encoder left.
// Logits over the temperature, with the rules of the structure, give probabilities; a letter is the
// first at which their running sum passes the residue's uniform number. Tied residues are decoded
// before any of them has a letter, and their logits are averaged by weight. R rows of structures, S
// states of sequences. (Dauparas et al. 2022, doi 10.1126/science.add2187)
struct Decode {
  Tensor rows, counts;  // i32 [R, K], [R]: neighbours of each residue
  Tensor present;       // u8 [R]
  Tensor h;             // f32 [R, d]: what the encoder made of residues
  Tensor edges;         // f32 [R, K, kLayers d]: what an edge adds to a message of each layer
  Tensor node_proj;     // f32 [R + S or more, kNodeProj]: rows R + state are written
  DecoderLayer layer[kLayers];
  const Linear* logits = nullptr;
  Tensor logit_weight, logit_bias;  // f32: the same for a single row
  const Sequence* sequences = nullptr;
  Tensor order, rank;           // i32 [S]: residues in their order, and the place of each in it
  Tensor uniforms;              // f64 [S]
  const Unit* units = nullptr;  // each behind those of the same sequence that come before it
  std::int64_t n_units = 0;
  RuleRows rules;
  Tensor flags;              // i32 [S + 1]: room
  Tensor letters;            // i32 [S]: the structure's; those that are drawn are written
  Tensor drawn;              // f32 [S]: all letters, kNoLetter where all are omitted
  Tensor log_probabilities;  // f32 [S, kLetterCount] of each residue as it was decoded
  Tensor probabilities;      // f32 [S, kLetterCount] that letters were drawn from, 0 where none was
};
BIOGPU_DECLARE_OP(decode, Decode);

}  // namespace biogpu::models::proteinmpnn
