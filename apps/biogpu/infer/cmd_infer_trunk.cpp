// `biogpu infer trunk`: the trunk of a structure model over arrays of its tokens and pairs.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apps/biogpu/command_line/list_option.hpp"
#include "apps/biogpu/command_line/option_group.hpp"
#include "apps/biogpu/command_line/value_checks.hpp"
#include "apps/biogpu/infer/arrays/trunk_input.hpp"
#include "apps/biogpu/infer/commands.hpp"
#include "apps/biogpu/infer/proteins/array_run.hpp"
#include "apps/biogpu/infer/run/item_run.hpp"
#include "lib/core/error.hpp"
#include "lib/io/arrays/array_writer.hpp"

namespace biogpu::app {
namespace {

struct TrunkFlags {
  InferFlags infer;
  std::vector<std::string> include;  // none: all
};

// The outputs to write.
std::vector<std::string> chosen_outputs(const std::vector<std::string>& include,
                                        const models::TrunkModel& model) {
  const std::vector<std::string> outputs = model.outputs();
  for (const std::string& name : include)
    if (std::find(outputs.begin(), outputs.end(), name) == outputs.end())
      throw Error(ErrorCode::usage,
                  fmt::format("--include {}: the model writes {}", name, fmt::join(outputs, ", ")));
  return include.empty() ? outputs : include;
}

// A weight is multiplied once a pair of tokens; a pair is some five hundred bytes of a file.
ItemKind trunk_items(const InferFlags& flags) {
  constexpr double kBytesOfPair = 512;
  return {.words = {"inputs", "tokens", true},
          .n_products = file_bytes(flags.inputs) / kBytesOfPair};
}

class TrunkRun {
 public:
  TrunkRun(const TrunkFlags& flags, InferFlags infer, const std::string& command_line)
      : run_(
            std::move(infer), "infer trunk", command_line, trunk_items(flags.infer),
            [this](const InferFlags& resolved) {
              auto source = std::make_unique<TrunkSource>(resolved);
              source_ = source.get();
              return source;
            },
            [](const TrunkRecord& record) {
              return static_cast<std::uint64_t>(record.input.n_tokens);
            }) {
    const models::TrunkModel& model = run_.model();
    source_->set_model(model.shape());
    include_ = chosen_outputs(flags.include, model);
    run_.log().detail(
        fmt::format("{}: {}, on {}", run_.flags().model, model.title(), run_.device().name));
  }

  void run(io::ArrayWriter& writer) {
    run_.run(
        [&](const std::vector<TrunkRecord>& records, pipeline::RecordOutputs& result) {
          for (const TrunkRecord& record : records) compute(record, result);
        },
        [&](const pipeline::RecordOutputs& result) {
          for (const io::NamedArray& array : result.arrays) writer.add(array);
        });
    nlohmann::ordered_json summary = {{"model", {{"precision", run_.devices().precision_name()}}}};
    run_.add_counts(summary);
    run_.finish(writer.bytes(), std::move(summary), [&] { writer.commit(); });
  }

 private:
  void require_memory(const TrunkRecord& record) const {
    const std::uint64_t allowed = run_.flags().shared.max_memory;
    if (run_.device().on_gpu() || allowed == 0) return;
    const std::size_t bytes = run_.model().measure(record.input.n_tokens, record.input.n_rows);
    if (bytes > allowed)
      throw Error(
          ErrorCode::host_memory,
          fmt::format("{}: {} tokens need {} MB of memory; --max-memory allows {}", record.place,
                      record.input.n_tokens, (bytes >> 20) + 1, allowed >> 20));
  }

  void compute(const TrunkRecord& record, pipeline::RecordOutputs& result) {
    require_memory(record);
    models::Outputs outputs;
    run_.use_model([&](models::TrunkModel& model) { outputs = model.run(record.input); });
    for (const std::string& name : include_) {
      const models::Outputs::Array& output = *outputs.find(name);
      io::NamedArray array;
      array.key = record.key.empty() ? name : record.key + "/" + name;
      array.kind_bytes = record.key.empty() ? 0 : name.size() + 1;
      array.shape = output.shape;
      array.values = output.values;
      array.place = [place = record.place] { return place; };
      run_.devices().require_finite(array.values, LazyText(array.place));
      result.arrays.push_back(std::move(array));
    }
  }

  std::vector<std::string> include_;
  TrunkSource* source_ = nullptr;  // of the run
  ItemRun<models::TrunkModel, TrunkRecord> run_;
};

void run_trunk(const TrunkFlags& flags, const std::string& command_line) {
  InferFlags infer = flags.infer;
  const io::ArrayFormat format = io::array_format(infer.output);
  if (format == io::ArrayFormat::npy)
    infer.also_written.push_back({"the index", io::npy_index(infer.output)});
  TrunkRun run(flags, infer, command_line);
  const auto writer = io::make_array_writer(infer.output, format);
  run.run(*writer);
}

}  // namespace

Run add_infer_trunk(CLI::App& command) {
  const auto flags = std::make_shared<TrunkFlags>();
  const OptionGroup options(command);
  options.option("FILE", flags->infer.inputs, "arrays z, s, m, a and masks in .npz files", " ")
      ->required();
  add_model_flag(command, flags->infer);
  add_array_output(command, flags->infer);
  add_list(command,
           {"--include", "write the tokens (s), the pairs (z), the diffusion's tokens (a) [all]",
            "NAME,...", one_of({"s", "z", "a"})},
           flags->include);
  add_model_options(command, models::Reads::arrays);
  options
      .option("--precision", flags->infer.precision,
              "compute in fp32, tf32, fp16 or bf16 [auto: bf16 on a GPU, fp32 on a CPU]", "TYPE")
      ->transform(one_of({"auto", "fp32", "tf32", "fp16", "bf16"}));
  add_resume_flag(command, flags->infer);
  add_skip_bad_flag(command, flags->infer, "inputs that are malformed or do not fit the model");
  add_shared_flags(command, flags->infer.shared);
  command.get_option("--batch")->description(
      "keep a result for --resume after every N tokens [one input]");
  add_infer_shard_flag(command, flags->infer, "compute part I of N of the inputs");
  command.footer(
      std::string(kArrayFormats) +
      std::string(
          "Arrays of FILE: z [N, N, c_z] of pairs of tokens, s [N, c_s] of tokens, and, if there\n"
          "are any, mask [N] (0 for padding) and pair_mask [N, N]; for a model with an MSA module\n"
          "m [S, N, c_m] of an alignment's rows and, if there is any, msa_mask [S, N]; for a\n"
          "diffusion transformer a [N, c_token]. A file with several inputs has NAME/z, NAME/s, "
          "...\n"
          "Outputs have the same names; with several files, FILE/ in front.\n\n"
          "Examples:\n"
          "  biogpu infer trunk --model protenix-mini in.npz -o out.npz\n"
          "  biogpu infer trunk --model protenix-mini --include s in.npz -o tokens.npy\n\n") +
      kExitCodes);
  return [flags](const std::string& command_line) { run_trunk(*flags, command_line); };
}

}  // namespace biogpu::app
