#include "apps/biogpu/infer/proteins/sequence_input.hpp"

#include <fmt/format.h>

#include <utility>

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
  for (std::size_t i = batch.first; i < batch.sequences.size(); ++i) {
    const auto name = batch.sequences.name(i);
    records.names.emplace_back(name);
    records.places.push_back(fmt::format("{}: record {} ({})",
                                         io::input::label_of(flags_.inputs[batch.file]),
                                         batch.sequences.first_record() + i, shortened(name)));
    records.sequences.push_back(models::tokenize(vocabulary, batch.sequences.sequence(i), options,
                                                 records.places.back(), &result.n_unknown));
    result.n_residues += records.sequences.back().size() - 2;
  }
  result.n_records = records.names.size();
  return records;
}

}  // namespace biogpu::app
