#include "apps/biogpu/infer/proteins/sequence_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace biogpu::app {
namespace {

// Tokens of a pass: on a CPU, what the caches hold well; on a GPU, whole rounds of its processors
// (docs/design/infer.md).
constexpr std::int64_t kCpuTokens = 2048;
constexpr std::int64_t kGpuTokens = 16896;

// Letters are taken for tokens, and a pipe for a long one.
double count_tokens(const InferFlags& flags) {
  constexpr double kTokensOfPipe = 1e6;
  const bool has_pipe = std::count(flags.inputs.begin(), flags.inputs.end(), "-") > 0;
  return has_pipe ? kTokensOfPipe : file_bytes(flags.inputs);
}

}  // namespace

SequenceRun::SequenceRun(InferFlags flags, std::string name, std::string command_line)
    : run_(with_standard_input(std::move(flags)), std::move(name), std::move(command_line)),
      input_(run_.flags()),
      devices_(run_, decide_model(run_.flags(), count_tokens(run_.flags()))) {
  run_.log().detail(fmt::format("{}: {}, {} layers of {}, on {}", run_.flags().model,
                                info().architecture, info().n_layers, info().d_model,
                                run_.device().name));
  choose_budget();
}

void SequenceRun::choose_budget() {
  const SharedFlags& shared = run_.flags().shared;
  const bool on_gpu = run_.device().on_gpu();
  const std::uint64_t most = shared.batch > 0
                                 ? shared.batch
                                 : static_cast<std::uint64_t>(on_gpu ? kGpuTokens : kCpuTokens);
  const std::vector<std::string> outputs{
      models::hidden_of_residues(static_cast<int>(info().n_layers))};
  budget_tokens_ =
      static_cast<std::int64_t>(largest_batch(run_, most, 64, [&](std::uint64_t n_tokens) {
        return devices_.first<models::ProteinModel>().measure(static_cast<std::int64_t>(n_tokens),
                                                              outputs);
      }));
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
  if (run_.n_records() == 0)
    run_.log().warn("the input has no sequences; the output has no results");
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
