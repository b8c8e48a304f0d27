#pragma once

#include <functional>
#include <string>
#include <unordered_set>

#include <CLI/CLI.hpp>

#include "apps/biogpu/infer/proteins/sequence_run.hpp"
#include "lib/tasks/score.hpp"

namespace biogpu::app {

// A record of the input.
struct Record {
  const SequenceRun& run;
  const models::Vocabulary& vocabulary;
  const std::string& name;
  const std::function<std::string(std::size_t i)>& place_of;  // its index: for errors
  std::size_t index;
  const tasks::Tokens& sequence;

  // Throws Error{failed} where a result is NaN or infinite.
  template <class Numbers>
  void require_finite(const Numbers& numbers) const {
    run.require_finite(numbers, [this] { return place_of(index); });
  }
};

// A table with lines for each record, from a model with a language head. Any thread calls the
// functions of records.
struct Table {
  const char* command;
  const char* header;
  bool masked;  // each position is masked in a copy of the sequence
  // Where log-probabilities are needed.
  std::function<tasks::Positions(const Record& record)> positions;
  // The lines of a record.
  std::function<void(const Record& record, const tasks::LogProbabilities& probabilities,
                     std::string& text)>
      append;
  std::unordered_set<std::string> names = {};  // that sequences should have
  std::function<void(const std::unordered_set<std::string>& names, Log& log)> report_missing = {};
};

// Throws Error{bad_input} where the model has no language head.
void run_table(const InferFlags& flags, const Table& table, const std::string& command_line);

}  // namespace biogpu::app
