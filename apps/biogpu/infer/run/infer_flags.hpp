#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "apps/biogpu/command_line/shared_flags.hpp"
#include "lib/core/error.hpp"
#include "lib/io/bad_records.hpp"
#include "lib/io/output/path_conflicts.hpp"
#include "lib/io/shard.hpp"
#include "lib/models/base/registry.hpp"
#include "lib/tensor/context.hpp"

namespace biogpu::app {

// Options of every subcommand that runs a model.
struct InferFlags {
  const CLI::App* command = nullptr;  // whose options they are
  SharedFlags shared;
  std::string model;
  std::vector<std::string> inputs;  // empty: standard input
  std::string output = "-";
  std::string precision = "auto";
  bool allow_unknown = false;
  bool resume = false;
  bool skip_bad = false;
  std::int64_t truncate = 0;
  io::Shard shard;  // of all inputs, one after the other
  io::BadRecords bad_records() const {
    return skip_bad ? io::BadRecords::skip : io::BadRecords::refuse;
  }
  // Beside the inputs, the model and the output: what no output may take the place of, and what is
  // written, too.
  std::vector<io::NamedFile> also_read;
  std::vector<io::NamedFile> also_written;
};

void add_model_flag(CLI::App& command, InferFlags& flags);
// The options of the models that read such inputs and have the command as a task.
void add_model_options(CLI::App& command, models::Reads reads);
// Their values, of those that were given.
models::OptionValues given_model_options(const CLI::App& command);
void add_precision_flag(CLI::App& command, std::string& precision);
// auto: what pays on that kind of device.
tensor::Precision parse_precision(const std::string& text, bool on_gpu);
const char* name_of(tensor::Precision precision);

// All options of InferFlags but the output.
void add_infer_flags(CLI::App& command, InferFlags& flags);
void add_table_output(CLI::App& command, InferFlags& flags);
void add_resume_flag(CLI::App& command, InferFlags& flags);
// what: the records that are left out.
void add_skip_bad_flag(CLI::App& command, InferFlags& flags, const char* what);
// what: what is cut and how the parts are joined.
void add_infer_shard_flag(
    CLI::App& command, InferFlags& flags,
    const char* what = "compute part I of N of the sequences; 'biogpu gather' joins .npy and .tsv");

// output_name() of a table, and of arrays or another format besides.
CLI::Validator table_name();
CLI::Validator array_name(const std::vector<std::string>& others = {});

// The options that were given, as text, but for those that results do not depend on and those that
// --resume has otherwise: the model, the inputs, the precision.
std::string given_options(const CLI::App& command);

// Nothing given is standard input.
InferFlags with_standard_input(InferFlags flags);

// Where finished batches are kept with --resume.
std::string resume_path(const InferFlags& flags);

// For a run that has left out records, after all is written: what was skipped of a file.
Error skipped_error(const std::string& label, const std::string& what);
std::string records_that_do_not_fit(std::uint64_t n);

// Throws it where items were left out of the inputs. records: "frames".
void throw_if_skipped(const InferFlags& flags, std::uint64_t n_skipped, const char* records);

// Throws Error{usage} where an output is a file that is read or another output. inputs: those of
// the command, folders replaced by what is read of them.
void require_own_outputs(const InferFlags& flags, const std::vector<std::string>& inputs);

}  // namespace biogpu::app
