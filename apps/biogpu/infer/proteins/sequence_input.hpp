#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "apps/biogpu/infer/run/infer_flags.hpp"
#include "apps/biogpu/infer/run/model_input.hpp"
#include "apps/biogpu/run/log.hpp"
#include "lib/io/sequence_reader.hpp"
#include "lib/models/base/tokenizer.hpp"
#include "lib/pipeline/record_outputs.hpp"
#include "lib/tasks/batching.hpp"

namespace biogpu::app {

// The sequences of files in batches of so many tokens.
class SequenceInput : public ModelInput {
 public:
  // Of a shard it counts the records of all files first. flags outlive it.
  explicit SequenceInput(const InferFlags& flags);

  void set_budget(std::int64_t n_tokens) { budget_tokens_ = n_tokens; }
  // Warns once of a record that looks like DNA, and once of one that is far longer than the longest
  // sequence in the training of the model. Before the first read().
  void warn_of_odd_records(Log& log, std::int64_t trained_residues);
  // Names that sequences should have. Before the first read(); after the last, missing() are those
  // that no sequence had. A shard does not see all sequences: there, nothing is missing.
  void expect(std::unordered_set<std::string> names);
  const std::unordered_set<std::string>& missing() const { return missing_; }

  struct Records {
    std::vector<std::string> names;
    std::vector<tasks::Tokens> sequences;
    // "proteins.fa: record 3 (P12345)", until the results of the slot are written.
    std::function<std::string(std::size_t i)> place;
  };
  // Those of a slot, counted in result. Any thread.
  Records records(std::size_t slot, const models::Vocabulary& vocabulary,
                  const models::TokenizeOptions& options, pipeline::RecordOutputs& result) const;

  bool read(std::size_t slot) override;
  std::vector<report::InputFile> files() const override { return files_; }

 private:
  struct Batch {
    io::SequenceBatch sequences;
    std::size_t file = 0;
    std::size_t first = 0;  // sequences before it are passed over
  };
  void set_slots(std::size_t n_slots) override { batches_.resize(n_slots); }
  bool open_next();
  std::string place(const Batch& batch, std::size_t i) const;
  void look_at(const Batch& batch);

  const InferFlags& flags_;
  std::vector<io::RecordRange> ranges_;  // of the files, empty: all
  std::int64_t budget_tokens_ = 0;
  std::unique_ptr<io::SequenceReader> reader_;
  std::size_t next_file_ = 0;
  std::vector<Batch> batches_;
  std::vector<report::InputFile> files_;
  std::unordered_set<std::string> missing_;
  Log* log_ = nullptr;
  std::int64_t trained_residues_ = 0;
  std::size_t max_letters_ = 0;  // of a record without a warning
  bool warned_of_dna_ = false;
  bool warned_of_length_ = false;
};

}  // namespace biogpu::app
