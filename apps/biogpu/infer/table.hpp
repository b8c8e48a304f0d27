#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_set>

#include <CLI/CLI.hpp>

#include "apps/biogpu/infer/run.hpp"

namespace biogpu::app {

void add_table_output(CLI::App& command, InferFlags& flags);

// A record of the input, and where its lines go.
struct Record {
  const InferRun& run;
  infer::ProteinModel& model;
  const std::string& name;
  const std::string& place;
  const infer::Tokens& sequence;
  std::int64_t budget_tokens;
  std::string& text;
};

// A table with lines for each record, from a model with a language head.
struct Table {
  const char* command;
  const char* header;
  std::string options;                               // what else lines depend on, for --resume
  std::function<void(const Record& record)> append;  // any thread calls it
  std::unordered_set<std::string> names = {};        // that sequences should have
  std::function<void(const std::unordered_set<std::string>& names, Log& log)> tell_missing = {};
};

// Throws Error{bad_input} where the model has no language head.
void run_table(const InferFlags& flags, const Table& table, const std::string& command_line);

}  // namespace biogpu::app
