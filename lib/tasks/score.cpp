#include "lib/tasks/score.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace biogpu::tasks {
namespace {

// What passes are given for positions of sequences: the sequences, or a copy for each position.
// Those without positions are left out.
class Inputs {
 public:
  Inputs(const std::vector<Tokens>& sequences, const std::vector<Positions>& positions)
      : sequences_(sequences), positions_(positions) {}

  bool next_sequence(PassInput& input) {
    if (!skip_to_position()) return false;
    input = {sequences_[sequence_], positions_[sequence_]};
    position_ = positions_[sequence_].size();
    return true;
  }

  bool next_masked(PassInput& input, std::int32_t mask) {
    if (!skip_to_position()) return false;
    copy_ = sequences_[sequence_];
    const std::int32_t& position = positions_[sequence_][position_++];
    copy_[static_cast<std::size_t>(position)] = mask;
    input = {copy_, {&position, 1}};
    return true;
  }

 private:
  bool skip_to_position() {
    while (sequence_ < sequences_.size() && position_ == positions_[sequence_].size()) {
      ++sequence_;
      position_ = 0;
    }
    return sequence_ < sequences_.size();
  }

  const std::vector<Tokens>& sequences_;
  const std::vector<Positions>& positions_;
  std::size_t sequence_ = 0;
  std::size_t position_ = 0;  // of positions_[sequence_]
  Tokens copy_;
};

// Hands the rows of passes back to the sequences that asked for them.
class SequenceRows {
 public:
  SequenceRows(const std::vector<Positions>& positions, std::int64_t width,
               const TakeLogProbabilities& take)
      : positions_(positions), width_(static_cast<std::size_t>(width)), take_(take) {
    give();
  }

  void add(const io::SharedArray& rows) {
    for (const float* from = rows.begin(); from != rows.end();) {
      const std::size_t n = std::min(n_needed(), static_cast<std::size_t>(rows.end() - from));
      rows_.insert(rows_.end(), from, from + n);
      from += n;
      give();
    }
  }

 private:
  std::size_t n_needed() const { return positions_[sequence_].size() * width_ - rows_.size(); }

  // All sequences whose rows are there, up to the first with rows to come.
  void give() {
    for (; sequence_ < positions_.size() && n_needed() == 0; ++sequence_) {
      take_(sequence_, {positions_[sequence_], rows_});
      rows_.clear();
    }
  }

  const std::vector<Positions>& positions_;
  const std::size_t width_;
  const TakeLogProbabilities& take_;
  std::size_t sequence_ = 0;
  std::vector<float> rows_;  // of the sequence so far
};

Positions positions_where(const models::Vocabulary& vocabulary, const Tokens& sequence, bool mask) {
  Positions positions;
  for (std::size_t t = 1; t + 1 < sequence.size(); ++t)
    if ((sequence[t] == vocabulary.mask) == mask) positions.push_back(static_cast<std::int32_t>(t));
  return positions;
}

}  // namespace

std::span<const float> LogProbabilities::row(std::size_t i) const {
  const std::size_t width = rows.size() / positions.size();
  return rows.subspan(i * width, width);
}

std::span<const float> LogProbabilities::at(std::int32_t position) const {
  const auto found = std::lower_bound(positions.begin(), positions.end(), position);
  return row(static_cast<std::size_t>(found - positions.begin()));
}

void log_probabilities(models::ProteinModel& model, const std::vector<Tokens>& sequences,
                       const std::vector<Positions>& positions, bool masked,
                       std::int64_t budget_tokens, const TakeLogProbabilities& take) {
  const models::Vocabulary& vocabulary = model.info().vocabulary;
  Inputs inputs(sequences, positions);
  SequenceRows rows(positions, vocabulary.size(), take);
  run_passes(
      model,
      [&](PassInput& input) {
        return masked ? inputs.next_masked(input, vocabulary.mask) : inputs.next_sequence(input);
      },
      {models::kLogProbabilities}, budget_tokens,
      [&](std::size_t, std::size_t, const models::Outputs& outputs) {
        rows.add(outputs.at(models::kLogProbabilities).values);
      });
}

Positions mask_positions(const models::Vocabulary& vocabulary, const Tokens& sequence) {
  return positions_where(vocabulary, sequence, true);
}

Positions residue_positions(const models::Vocabulary& vocabulary, const Tokens& sequence) {
  return positions_where(vocabulary, sequence, false);
}

double PseudoLikelihood::perplexity() const {
  if (n_residues == 0) return std::numeric_limits<double>::quiet_NaN();
  return std::exp(-log_likelihood / static_cast<double>(n_residues));
}

PseudoLikelihood pseudo_likelihood(const Tokens& sequence, const LogProbabilities& masked) {
  PseudoLikelihood sum;
  sum.n_residues = static_cast<std::int64_t>(masked.positions.size());
  for (std::size_t i = 0; i < masked.positions.size(); ++i) {
    const std::int32_t residue = sequence[static_cast<std::size_t>(masked.positions[i])];
    sum.log_likelihood += static_cast<double>(masked.row(i)[static_cast<std::size_t>(residue)]);
  }
  return sum;
}

Positions variant_positions(const std::vector<Variant>& variants) {
  Positions positions;
  for (const Variant& variant : variants)
    for (const Substitution& s : variant.substitutions) positions.push_back(s.position);
  std::sort(positions.begin(), positions.end());
  positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
  return positions;
}

std::vector<double> variant_scores(const std::vector<Variant>& variants,
                                   const LogProbabilities& probabilities) {
  std::vector<double> scores;
  for (const Variant& variant : variants) {
    double score = 0;
    for (const Substitution& s : variant.substitutions) {
      const auto row = probabilities.at(s.position);
      score += static_cast<double>(row[static_cast<std::size_t>(s.to)]) -
               static_cast<double>(row[static_cast<std::size_t>(s.from)]);
    }
    scores.push_back(score);
  }
  return scores;
}

}  // namespace biogpu::tasks
