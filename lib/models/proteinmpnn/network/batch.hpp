#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lib/models/base/packed_inputs.hpp"
#include "lib/models/proteinmpnn/network/rule_table.hpp"
#include "lib/models/proteinmpnn/network/work.hpp"
#include "lib/models/proteinmpnn/ops/decode.hpp"

namespace biogpu::models::proteinmpnn {

// What a pass over several works reads, in the context's memory: structures one behind the other, a
// row for each residue, and sequences one behind the other, a state for each residue.
struct BatchInputs {
  Tensor segments;         // i32 [R, 2]: first row and residues of each row's structure
  Tensor points, frames;   // f32 [R, points, 3], [R, 9]
  Tensor present;          // u8 [R]
  Tensor numbers, chains;  // i32 [R]
  RuleRows rules;
  const Sequence* sequences = nullptr;
  Tensor order, rank, letters;  // i32 [S]
  Tensor uniforms;              // f64 [states that are drawn]
  const Unit* units = nullptr;
  // Of states whose letters are scored, i32: sequence, row, the state that has the letter.
  Tensor sequence_of, state_rows, letter_states;
};

// Sequences that are drawn come first, then those that are scored: given ones, and those that were
// drawn with ties, since a tied residue is decoded before its partners have letters and its score
// knows them.
class Batch {
 public:
  explicit Batch(std::span<const Work> works);

  BatchInputs upload(Pass& pass);

  std::int64_t n_rows() const { return static_cast<std::int64_t>(segments_.size()) / 2; }
  std::int64_t n_units() const { return static_cast<std::int64_t>(units_.size()); }
  std::int64_t n_drawn() const { return n_drawn_; }  // states
  std::int64_t n_scored() const { return n_states() - n_drawn_; }
  std::int64_t n_states() const { return static_cast<std::int64_t>(order_.size()); }
  std::int64_t first_row(std::size_t work) const { return first_rows_[work]; }
  // States of the samples and scorings of all works, in their order.
  const Sequence& drawn(std::size_t sample) const { return sequences_[sample]; }
  const Sequence& scored(std::size_t number) const { return sequences_[n_samples_ + number]; }

 private:
  void add_structure(const Work& work);
  void add_sequence(const Work& work, std::size_t number, const DecodingOrder& order,
                    const std::vector<std::uint8_t>& letters, double temperature);
  void add_sequences(std::span<const Work> works);
  void deal_units();
  void list_scored();

  std::vector<std::int64_t> first_rows_;
  std::vector<std::int32_t> segments_;
  std::int64_t n_points_ = 0;
  std::vector<float> points_, frames_;
  std::vector<std::uint8_t> present_;
  std::vector<std::int32_t> numbers_, chains_;
  RuleTable rules_;

  std::size_t n_samples_ = 0;
  std::int64_t n_drawn_ = 0;
  std::vector<Sequence> sequences_;
  std::vector<std::int32_t> order_, rank_, letters_;
  std::vector<double> uniforms_;
  std::vector<const std::vector<std::int32_t>*> unit_begins_;  // of the samples
  std::vector<Unit> units_;
  std::vector<std::int32_t> sequence_of_, state_rows_, letter_states_;
  std::vector<std::size_t> redrawn_;  // samples that are scored again
  PackedInputs inputs_;
};

// Works in batches of about as many residues of structures and of sequences as are given, and at
// least one of each: a work with more sequences comes in parts, each of which is encoded.
std::vector<std::vector<Work>> divide(std::span<const Work> works, std::int64_t max_rows,
                                      std::int64_t max_states);

}  // namespace biogpu::models::proteinmpnn
