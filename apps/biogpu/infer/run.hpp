#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_set>
#include <vector>

#include "apps/biogpu/infer/flags.hpp"
#include "apps/biogpu/log.hpp"
#include "apps/biogpu/run_summary.hpp"
#include "lib/core/stage_times.hpp"
#include "lib/io/sequence_reader.hpp"
#include "lib/models/protein_model.hpp"
#include "lib/pipeline/batch_result.hpp"
#include "lib/pipeline/journal.hpp"
#include "lib/pipeline/pipeline.hpp"
#include "lib/report/json_summary.hpp"
#include "lib/tasks/passes.hpp"
#include "lib/tensor/context.hpp"

namespace biogpu::app {

// The path of a file that results depend on, with its size and time: what --resume knows it by.
std::string file_state(const std::string& path);

// From files of sequences through the models of all devices to one ordered output.
class InferRun {
 public:
  // Loads the model on every device that is to be used.
  InferRun(InferFlags flags, std::string name, std::string command_line);

  const models::ModelInfo& info() const { return models_.front()->info(); }
  std::int64_t budget_tokens() const { return budget_tokens_; }
  models::TokenizeOptions tokenize_options() const;
  Log& log() { return log_; }
  // Names that sequences should have. Before run(); behind it, missing() are those that no sequence
  // had. A shard does not see all sequences: there, nothing is missing.
  void expect(std::unordered_set<std::string> names);
  const std::unordered_set<std::string>& missing() const { return missing_; }

  struct Records {
    std::vector<std::string> names;
    std::vector<tasks::Tokens> sequences;
    std::vector<std::string> places;  // "proteins.fa: record 3 (P12345)"
  };
  // Throws Error{failed} where a result is NaN or infinite.
  template <class Numbers>
  void require_finite(const Numbers& numbers, const std::string& place) const {
    if (!std::all_of(numbers.begin(), numbers.end(), [](auto x) { return std::isfinite(x); }))
      fail_not_finite(place);
  }

  using Compute = std::function<void(models::ProteinModel& model, Records& records,
                                     pipeline::BatchResult& result)>;
  using Write = std::function<void(const pipeline::BatchResult& result)>;
  // compute runs on any thread, one a device; write gets the results in the order of the input.
  // options: what else results depend on, for --resume.
  void run(const std::string& options, const Compute& compute, const Write& write);
  // All is written: writes the summary of --json, too, before any output has its name.
  void finish(std::uint64_t output_bytes);
  // After the output has its name: names the summary and forgets the journal.
  void commit();

 private:
  struct Item;
  void load_models();
  void load_weights();
  void choose_budget();
  bool read(Item& item);
  void compute(Item& item, const Compute& compute);
  std::string fingerprint(const std::string& options) const;
  [[noreturn]] void fail_not_finite(const std::string& place) const;

  InferFlags flags_;
  const std::string name_;
  const std::string command_line_;
  Log log_;
  SummaryFile summary_;
  DeviceChoice device_;
  tensor::Precision precision_ = tensor::Precision::fp32;  // what is computed in
  std::vector<std::unique_ptr<tensor::Context>> contexts_;
  std::vector<std::unique_ptr<models::ProteinModel>> models_;
  std::int64_t budget_tokens_ = 0;

  std::unique_ptr<pipeline::Journal> journal_;
  std::uint64_t n_skipped_ = 0;  // records that the journal had
  std::unique_ptr<io::SequenceReader> reader_;
  std::size_t next_input_ = 0;
  std::vector<io::RecordRange> ranges_;  // of the inputs, empty: all
  std::vector<report::InputFile> inputs_;
  std::unordered_set<std::string> missing_;
  std::uint64_t n_records_ = 0;
  std::uint64_t n_residues_ = 0;
  std::uint64_t n_unknown_ = 0;
  pipeline::Times times_;
  std::vector<StageTimes> stages_;

  std::mutex mutex_;  // guards free_models_
  std::vector<models::ProteinModel*> free_models_;
};

}  // namespace biogpu::app
