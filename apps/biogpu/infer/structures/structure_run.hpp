#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "apps/biogpu/infer/run/infer_flags.hpp"
#include "apps/biogpu/infer/run/model_run.hpp"
#include "apps/biogpu/infer/structures/structure_devices.hpp"
#include "apps/biogpu/infer/structures/structure_input.hpp"
#include "lib/models/proteinmpnn/design/design.hpp"
#include "lib/pipeline/record_outputs.hpp"

namespace biogpu::app {

// Options of the subcommands that run a model over structures, beyond where the model lies.
struct StructureFlags {
  models::proteinmpnn::DesignRequest request;
  models::proteinmpnn::DesignOptions options;
  std::vector<std::string> bias;  // "A:-1.1"
  std::string draws;
};

// The heading of the options that take the files of ProteinMPNN.
inline constexpr char kOriginalFiles[] = "Files of the original";

void add_structure_flags(CLI::App& command, StructureFlags& flags, const char* heading = "");

// From files of structures through the model to one ordered output.
class StructureRun {
 public:
  // Loads the model and finds the structures: files, and those in folders.
  StructureRun(InferFlags infer, StructureFlags flags, std::string name, std::string command_line);

  const models::proteinmpnn::Info& info() const { return info_; }
  const models::proteinmpnn::DesignInputs& inputs() const { return *inputs_; }
  const models::proteinmpnn::DesignOptions& options() const { return flags_.options; }
  const models::proteinmpnn::Replay& replay() const { return replay_; }

  // make_job runs on any thread; write gets the results in the order of the structures, of one or
  // of several at once.
  using MakeJob =
      std::function<std::unique_ptr<models::proteinmpnn::StructureJob>(const std::string& path)>;
  void run(const MakeJob& make_job,
           const std::function<void(const pipeline::RecordOutputs& result)>& write);
  // As ModelRun has it.
  void finish(std::uint64_t output_bytes, const std::function<void()>& name_outputs);

 private:
  void open_devices();
  int count_workers() const;
  void compute(std::size_t slot, const MakeJob& make_job, int n_threads,
               pipeline::RecordOutputs& result);

  StructureFlags flags_;
  ModelRun run_;
  ItemInput<std::string> input_;  // paths
  models::proteinmpnn::Info info_;
  std::unique_ptr<StructureDevices> devices_;
  std::unique_ptr<models::proteinmpnn::DesignInputs> inputs_;
  models::proteinmpnn::Replay replay_;
};

// `biogpu infer score` where --model holds a model of structures. sequences: FASTA, or empty.
void run_structure_score(InferFlags infer, const StructureFlags& flags,
                         const std::string& sequences, const std::string& command_line);

}  // namespace biogpu::app
