#include "apps/biogpu/infer/run/infer_flags.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>

#include "apps/biogpu/command_line/option_group.hpp"
#include "apps/biogpu/command_line/value_checks.hpp"
#include "lib/core/error.hpp"
#include "lib/io/arrays/array_writer.hpp"
#include "lib/io/input/raw_file.hpp"
#include "lib/report/counted.hpp"

namespace biogpu::app {
namespace {

constexpr std::pair<const char*, tensor::Precision> kPrecisions[] = {
    {"fp32", tensor::Precision::fp32},
    {"tf32", tensor::Precision::tf32},
    {"fp16", tensor::Precision::fp16},
    {"bf16", tensor::Precision::bf16}};

bool is_of_model(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  return path.extension() == ".safetensors" || name == "config.json" ||
         name == "model.safetensors.index.json" || name == "vocab.txt" ||
         name == "vocab_chars.json" || (name.starts_with("targets_") && name.ends_with(".txt")) ||
         (name.starts_with("tracks_") && name.ends_with(".tsv"));
}

// Null where the command does not offer it.
const CLI::Option* find_model_option(const CLI::App& command, const models::ModelOption& option) {
  return command.get_option_no_throw(fmt::format("--{}", option.name));
}

}  // namespace

void add_table_output(CLI::App& command, InferFlags& flags) {
  OptionGroup(command)
      .option("-o,--output", flags.output,
              "write the results as TSV to this file, compressed where its name ends in .gz [-, "
              "standard output]",
              "FILE")
      ->check(table_name());
}

CLI::Validator table_name() { return output_name({"tsv", "txt"}); }

CLI::Validator array_name(const std::vector<std::string>& others) {
  std::vector<std::string> formats = {"npy", "npz", "safetensors", "h5", "tsv", "txt"};
  formats.insert(formats.end(), others.begin(), others.end());
  return output_name(std::move(formats));
}

InferFlags with_standard_input(InferFlags flags) {
  if (flags.inputs.empty()) flags.inputs.emplace_back("-");
  return flags;
}

std::string resume_path(const InferFlags& flags) { return flags.output + ".partial"; }

tensor::Precision parse_precision(const std::string& text, bool on_gpu) {
  for (const auto& [name, precision] : kPrecisions)
    if (text == name) return precision;
  return on_gpu ? tensor::Precision::fp16 : tensor::Precision::fp32;  // auto
}

const char* name_of(tensor::Precision precision) {
  for (const auto& [name, value] : kPrecisions)
    if (value == precision) return name;
  return "";
}

std::string given_options(const CLI::App& command) {
  constexpr const char* kWithout[] = {
      "--model",   "--precision", "--output",     "--resume", "--threads", "--device",
      "--json",    "--batch",     "--max-memory", "--quiet",  "--verbose", "--max-device-memory",
      "--progress"};
  std::string text;
  for (const CLI::Option* option : command.get_options()) {
    const bool has_effect = std::none_of(std::begin(kWithout), std::end(kWithout),
                                         [&](auto name) { return option->check_name(name); });
    if (option->count() > 0 && has_effect && !option->get_positional())
      text += fmt::format("{} {}\n", option->get_name(), fmt::join(option->results(), "\n "));
  }
  return text;
}

void add_model_flag(CLI::App& command, InferFlags& flags) {
  flags.command = &command;
  OptionGroup(command)
      .option("--model", flags.model,
              "read the model from this folder, which has config.json and safetensors", "FOLDER")
      ->required();
}

void add_model_options(CLI::App& command, models::Reads reads) {
  using Kind = models::ModelOption::Kind;
  for (const models::ModelDef& model : models::registry()) {
    const bool offers_task =
        std::any_of(model.tasks.begin(), model.tasks.end(),
                    [&](const char* task) { return command.get_name() == task; });
    if (model.reads != reads || !offers_task) continue;
    for (const models::ModelOption& option : model.options) {
      if (find_model_option(command, option) != nullptr) continue;  // of another model too
      if (option.kind == Kind::choice)
        command.add_option(fmt::format("--{}", option.name), CLI::callback_t(), option.help)
            ->transform(one_of({option.choices.begin(), option.choices.end()}))
            ->option_text(option.value_name);
      else
        command
            .add_flag(option.kind == Kind::flag ? fmt::format("--{}", option.name)
                                                : fmt::format("--{0},!--no-{0}", option.name),
                      option.help)
            ->option_text(" ");
    }
  }
}

models::OptionValues given_model_options(const CLI::App& command) {
  models::OptionValues values;
  for (const models::ModelDef& model : models::registry())
    for (const models::ModelOption& option : model.options) {
      const CLI::Option* const given = find_model_option(command, option);
      if (given == nullptr || given->count() == 0) continue;
      if (option.kind != models::ModelOption::Kind::choice)
        values.set(option.name, given->as<bool>());
      else if (const auto word = given->as<std::string>(); word != option.choices.front())
        values.set(option.name, word);
    }
  return values;
}

void add_precision_flag(CLI::App& command, std::string& precision) {
  OptionGroup(command)
      .option("--precision", precision,
              "compute in fp32, tf32, fp16, bf16 or auto [auto: fp16 on a GPU, fp32 for DNA and on "
              "a CPU]",
              "TYPE")
      ->transform(one_of({"auto", "fp32", "tf32", "fp16", "bf16"}));
}

void add_resume_flag(CLI::App& command, InferFlags& flags) {
  OptionGroup(command).flag(
      "--resume", flags.resume,
      "keep finished batches in OUTPUT.partial, and begin with those that are there");
}

void add_skip_bad_flag(CLI::App& command, InferFlags& flags, const char* what) {
  OptionGroup(command).flag("--skip-bad", flags.skip_bad,
                            fmt::format("leave out {}; the exit code is 3 then", what));
}

void add_infer_flags(CLI::App& command, InferFlags& flags) {
  const OptionGroup options(command);
  options.option("FASTA", flags.inputs,
                 "FASTA files of proteins, plain or gzip; none or - is standard input", " ");
  add_model_flag(command, flags);
  add_precision_flag(command, flags.precision);
  options
      .option("--truncate", flags.truncate, "keep the first N residues of longer sequences only",
              "N")
      ->transform(in_range(1, 1 << 24));
  options.flag("--allow-unknown", flags.allow_unknown,
               "read letters outside the alphabet as the unknown token");
  add_model_options(command, models::Reads::proteins);
  add_resume_flag(command, flags);
  add_shared_flags(command, flags.shared);
  command.get_option("--batch")->description(
      "compute at most N tokens in one pass [chosen for the device]");
}

void add_infer_shard_flag(CLI::App& command, InferFlags& flags, const char* what) {
  add_shard_flag(command, flags.shard, what);
}

Error skipped_error(const std::string& label, const std::string& what) {
  return {ErrorCode::bad_input,
          fmt::format("{}: skipped: {}; the output has the others", label, what)};
}

void throw_if_skipped(const InferFlags& flags, std::uint64_t n_skipped, const char* records) {
  if (n_skipped == 0) return;
  // A folder may hold thousands.
  constexpr std::size_t kMaxNames = 3;
  std::vector<std::string> labels;
  for (const std::string& path : flags.inputs)
    if (labels.size() < kMaxNames) labels.push_back(io::input::label_of(path));
  std::string names = fmt::format("{}", fmt::join(labels, ", "));
  if (flags.inputs.size() > kMaxNames)
    names += fmt::format(" and {} more", flags.inputs.size() - kMaxNames);
  throw skipped_error(names, report::counted(n_skipped, records) +
                                 (n_skipped == 1 ? " that is bad" : " that are bad"));
}

std::string records_that_do_not_fit(std::uint64_t n) {
  return report::counted(n, "records") + (n == 1 ? " that does not fit" : " that do not fit");
}

void require_own_outputs(const InferFlags& flags, const std::vector<std::string>& inputs) {
  std::vector<io::NamedFile> read = flags.also_read, written = flags.also_written;
  for (const std::string& path : inputs) read.push_back({"the input", path});
  std::error_code no_folder;
  for (const auto& file : std::filesystem::directory_iterator(flags.model, no_folder))
    if (is_of_model(file.path())) read.push_back({"--model", file.path().string()});
  written.push_back({"--output", flags.output});
  if (flags.resume) written.push_back({"--resume", resume_path(flags)});
  flags.shared.require_own_outputs(read, std::move(written));
}

}  // namespace biogpu::app
