#include "apps/biogpu/infer/proteins/sequence_input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "apps/biogpu/align/input/letter_counts.hpp"
#include "lib/core/quote.hpp"
#include "lib/io/input/raw_file.hpp"
#include "lib/io/shard.hpp"

namespace biogpu::app {
namespace {

constexpr std::uint64_t kRecordsPerBatch = 512;

}  // namespace

SequenceInput::SequenceInput(const InferFlags& flags) : ModelInput({}), flags_(flags) {
  if (!flags_.shard.is_whole())
    ranges_ = io::shard_files(flags_.inputs, flags_.shard, flags_.shared.threads, true);
}

void SequenceInput::expect(std::unordered_set<std::string> names) {
  if (flags_.shard.is_whole()) missing_ = std::move(names);
}

void SequenceInput::warn_of_odd_records(Log& log, std::int64_t trained_residues) {
  constexpr std::int64_t kFarLonger = 2;
  log_ = &log;
  trained_residues_ = trained_residues;
  max_letters_ = static_cast<std::size_t>(kFarLonger * trained_residues);
}

std::string SequenceInput::place(const Batch& batch, std::size_t i) const {
  return fmt::format("{}: record {} ({})", io::input::label_of(flags_.inputs[batch.file]),
                     batch.sequences.first_record() + i, shortened(batch.sequences.name(i)));
}

void SequenceInput::look_at(const Batch& batch) {
  for (std::size_t i = 0; i < batch.sequences.size() && log_ != nullptr; ++i) {
    if (warned_of_dna_ && warned_of_length_) return;
    const std::string_view sequence = batch.sequences.sequence(i);
    const std::size_t n_used =
        flags_.truncate == 0 ? sequence.size()
                             : std::min(sequence.size(), static_cast<std::size_t>(flags_.truncate));
    LetterCounts letters;
    letters.add(sequence.substr(0, n_used));
    if (!warned_of_dna_ && letters.look_like_dna()) {
      warned_of_dna_ = true;
      log_->warn(place(batch, i) + " looks like DNA; the model reads proteins");
    }
    if (!warned_of_length_ && max_letters_ > 0 && n_used > max_letters_) {
      warned_of_length_ = true;
      log_->warn(fmt::format(
          "{} has {} residues; the model was trained on up to {}, and what it says of far longer "
          "sequences is untested",
          place(batch, i), n_used, trained_residues_));
    }
  }
}

bool SequenceInput::open_next() {
  if (next_file_ == flags_.inputs.size()) return false;
  reader_ =
      std::make_unique<io::SequenceReader>(flags_.inputs[next_file_], flags_.shared.threads, true);
  if (!ranges_.empty()) reader_->select(ranges_[next_file_]);
  ++next_file_;
  return true;
}

bool SequenceInput::read(std::size_t slot) {
  Batch& batch = batches_[slot];
  const io::BatchLimits limits{kRecordsPerBatch, static_cast<std::uint64_t>(budget_tokens_)};
  for (;;) {
    if (!reader_ && !open_next()) return false;
    if (!reader_->read(batch.sequences, limits)) {
      files_.push_back({reader_->path(), reader_->file_bytes(), reader_->n_records()});
      reader_.reset();
      continue;
    }
    for (std::size_t i = 0; i < batch.sequences.size() && !missing_.empty(); ++i)
      missing_.erase(std::string(batch.sequences.name(i)));
    batch.file = next_file_ - 1;
    look_at(batch);
    batch.first = skip(batch.sequences.size());
    if (batch.first < batch.sequences.size()) return true;
  }
}

SequenceInput::Records SequenceInput::records(std::size_t slot,
                                              const models::Vocabulary& vocabulary,
                                              const models::TokenizeOptions& options,
                                              pipeline::RecordOutputs& result) const {
  const Batch& batch = batches_[slot];
  Records records;
  records.place = [this, &batch](std::size_t i) { return place(batch, batch.first + i); };
  for (std::size_t i = batch.first; i < batch.sequences.size(); ++i) {
    records.names.emplace_back(batch.sequences.name(i));
    records.sequences.push_back(models::tokenize(
        vocabulary, batch.sequences.sequence(i), options, [&] { return place(batch, i); },
        &result.n_unknown));
    result.n_residues += records.sequences.back().size() - 2;
  }
  result.n_records = records.names.size();
  return records;
}

}  // namespace biogpu::app
