#include "apps/biogpu/infer/proteins/sequence_run.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "apps/biogpu/run/cost_tasks.hpp"
#include "lib/core/auto_device.hpp"
#include "lib/core/error.hpp"
#include "lib/models/base/registry.hpp"

namespace biogpu::app {
namespace {

// Tokens of a pass: on a CPU, what the caches hold well; on a GPU, whole rounds of its processors
// (docs/design/infer.md).
constexpr std::int64_t kCpuTokens = 2048;
constexpr std::int64_t kGpuTokens = 16896;

// Letters are taken for tokens, and a pipe for a long one. Results of two devices may differ in
// their last digits: what decides is the same on every machine, and not what earlier runs have
// left.
AutoDecision decide(const InferFlags& flags) {
  constexpr double kTokensOfPipe = 1e6;
  cost::Work inputs;
  bool all_files = !flags.inputs.empty();
  for (const std::string& path : flags.inputs) {
    all_files = all_files && path != "-";
    add_file(inputs, path);
  }
  cost::Work work;
  work.task = &works::kInfer;
  work.n_threads = flags.shared.threads;
  work.bytes = static_cast<double>(weight_bytes(flags.model));
  work.units = work.bytes * (all_files ? inputs.bytes : kTokensOfPipe);
  return decide_device(cost::Machine{}, work);
}

// Nothing given is standard input. Throws Error{usage} for an option that the model does not have.
InferFlags with_input(InferFlags flags) {
  if (flags.inputs.empty()) flags.inputs.emplace_back("-");
  constexpr const char* kWithRare = "ProtBERT";
  const std::string& name = models::find_model(models::ModelConfig(flags.model)).name;
  if (flags.keep_rare && name != kWithRare)
    throw Error(ErrorCode::usage, fmt::format("{}: {} has no --keep-rare, which is for {}",
                                              flags.model, name, kWithRare));
  return flags;
}

}  // namespace

SequenceRun::SequenceRun(InferFlags flags, std::string name, std::string command_line)
    : run_(with_input(std::move(flags)), std::move(name), std::move(command_line)),
      input_(run_.flags()),
      devices_(run_, decide(run_.flags()), {.keep_rare = run_.flags().keep_rare}) {
  run_.log().detail(fmt::format("{}: {}, {} layers of {}, on {}", run_.flags().model,
                                info().architecture, info().n_layers, info().d_model,
                                run_.device().name));
  choose_budget();
}

void SequenceRun::choose_budget() {
  const SharedFlags& shared = run_.flags().shared;
  const bool on_gpu = run_.device().on_gpu();
  const std::int64_t most = on_gpu ? kGpuTokens : kCpuTokens;
  budget_tokens_ = shared.batch > 0 ? static_cast<std::int64_t>(shared.batch) : most;
  const std::uint64_t bound = on_gpu ? shared.max_device_memory : shared.max_memory;
  const std::vector<std::string> outputs{
      models::hidden_of_residues(static_cast<int>(info().n_layers))};
  while (bound > 0 && budget_tokens_ > 64 &&
         devices_.first<models::ProteinModel>().measure(budget_tokens_, outputs) > bound)
    budget_tokens_ /= 2;
  input_.set_budget(budget_tokens_);
  input_.warn_of_odd_records(run_.log(), info().trained_residues);
}

void SequenceRun::run(const Compute& compute, const Write& write) {
  const models::TokenizeOptions options{run_.flags().allow_unknown, info().max_residues,
                                        run_.flags().truncate};
  const models::Vocabulary& vocabulary = info().vocabulary;
  const auto compute_slot = [&](std::size_t slot, pipeline::RecordOutputs& result) {
    Records records = input_.records(slot, vocabulary, options, result);
    devices_.use<models::ProteinModel>(
        [&](models::ProteinModel& model) { compute(model, records, result); });
  };
  run_.run(input_, {devices_.size(), name_of(devices_.precision()), compute_slot, write});
  if (run_.n_unknown() > 0)
    run_.log().warn(fmt::format("{} residues outside the alphabet were read as {}",
                                run_.n_unknown(),
                                vocabulary.tokens[static_cast<std::size_t>(vocabulary.unknown)]));
}

void SequenceRun::finish(std::uint64_t output_bytes, const std::function<void()>& name_outputs) {
  run_.finish(output_bytes,
              devices_.report({{"model",
                                {{"architecture", info().architecture},
                                 {"layers", info().n_layers},
                                 {"width", info().d_model},
                                 {"parameters", info().n_parameters}}},
                               {"precision", name_of(devices_.precision())},
                               {"tokens_per_pass", budget_tokens_},
                               {"sequences", run_.n_records()},
                               {"residues", run_.n_residues()},
                               {"unknown_residues", run_.n_unknown()}}),
              name_outputs);
}

}  // namespace biogpu::app
