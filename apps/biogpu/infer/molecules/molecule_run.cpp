#include "apps/biogpu/infer/molecules/molecule_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "apps/biogpu/run/cost_tasks.hpp"
#include "lib/core/auto_device.hpp"
#include "lib/core/error.hpp"
#include "lib/io/input/raw_file.hpp"

namespace biogpu::app {
namespace {

// Atoms of a pass: more do not make it faster.
constexpr std::size_t kCpuAtoms = 2048;
constexpr std::size_t kGpuAtoms = 32768;

// A weight is multiplied some forty times an atom, for its pairs; an atom is some forty bytes of a
// file. A pipe is taken for a thousand atoms.
AutoDecision decide_potential(const InferFlags& flags, double n_passes, int max_gpus) {
  constexpr double kBytesOfPipe = 40e3;
  cost::Work inputs;
  for (const std::string& path : flags.inputs)
    if (path != "-") add_file(inputs, path);
  cost::Work work;
  work.task = &works::kInfer;
  work.n_threads = flags.shared.threads;
  work.bytes = static_cast<double>(weight_bytes(flags.model));
  work.units = work.bytes * std::max(inputs.bytes, kBytesOfPipe) * n_passes;
  AutoDecision decision = decide_device(cost::Machine{}, work);
  decision.max_gpus = std::min(decision.max_gpus, max_gpus);
  return decision;
}

models::LoadOptions load_options_of(const MoleculeFlags& flags) {
  models::LoadOptions options;
  options.atom_references = flags.atom_references;
  return options;
}

}  // namespace

InferFlags with_standard_input(InferFlags flags) {
  if (flags.inputs.empty()) flags.inputs.emplace_back("-");
  return flags;
}

PotentialDevices::PotentialDevices(ModelRun& run, const MoleculeFlags& flags, double n_passes,
                                   int max_gpus)
    : devices_(run, decide_potential(run.flags(), n_passes, max_gpus), load_options_of(flags)) {
  if (flags.charge && !info().uses_charge)
    throw Error(ErrorCode::usage, "--charge: the model does not use charges");
  if (!run.device().on_gpu())
    devices_.first<models::PotentialModel>().set_max_pass_bytes(run.flags().shared.max_memory);
  const std::uint64_t batch = run.flags().shared.batch;
  atoms_per_pass_ =
      batch > 0 ? static_cast<std::size_t>(batch) : (run.device().on_gpu() ? kGpuAtoms : kCpuAtoms);
  run.log().detail(fmt::format("{}: {} ({}), cutoff {} Angstrom, energies in {}, on {}",
                               run.flags().model, info().architecture, info().dialect,
                               info().cutoff, info().energy_unit, run.device().name));
}

std::string PotentialDevices::state() const { return devices_.precision_name(); }

nlohmann::ordered_json PotentialDevices::describe() const {
  return {{"architecture", info().architecture},
          {"dialect", info().dialect},
          {"cutoff_A", info().cutoff},
          {"precision", devices_.precision_name()}};
}

MoleculeRun::MoleculeRun(const MoleculeFlags& flags, std::string name, std::string command_line,
                         double n_passes)
    : units_(flags.units),
      run_(with_standard_input(flags.infer), std::move(name), std::move(command_line)),
      input_(run_.flags().inputs, run_.flags().shard, run_.flags().bad_records()),
      devices_(run_, flags, n_passes),
      rules_(devices_.info(), flags.charge,
             [this](const std::string& what) { run_.log().warn(what); }) {
  input_.set_rules(rules_);
  input_.set_budget(devices_.atoms_per_pass());
  input_.leave_out_bad(
      [this](const MoleculeSource::Record& record) {
        tasks::make_checked_system(model(), record.molecule, record.place);
      },
      [this](const std::string& what) { run_.log().warn("skipped: " + what); });
}

void MoleculeRun::run(const Compute& compute,
                      const std::function<void(const pipeline::RecordOutputs& result)>& write,
                      int workers_a_device) {
  const auto compute_slot = [&](std::size_t slot, pipeline::RecordOutputs& result) {
    tasks::MoleculeBatch& batch = input_.batch(slot);
    result.n_records = batch.size();
    for (const molecule::Molecule& molecule : batch.molecules)
      result.n_residues += molecule.n_atoms();
    compute(batch, result);
  };
  run_.run(input_,
           {workers_a_device * devices_.devices().size(), devices_.state(), compute_slot, write});
  if (run_.n_records() == 0) run_.log().warn(kNoFrame);
}

void MoleculeRun::finish(std::uint64_t output_bytes, const std::function<void()>& name_outputs) {
  const std::uint64_t n_skipped = input_.n_skipped() + n_skipped_;
  run_.finish(output_bytes,
              devices_.devices().report({{"model", devices_.describe()},
                                         {"energy_unit", units_},
                                         {"frames", run_.n_records() - n_skipped_},
                                         {"atoms", run_.n_residues()},
                                         {"skipped", {{"frames", n_skipped}}}}),
              name_outputs);
  if (n_skipped == 0) return;
  std::vector<std::string> labels;
  for (const std::string& path : run_.flags().inputs) labels.push_back(io::input::label_of(path));
  throw skipped_error(fmt::format("{}", fmt::join(labels, ", ")),
                      fmt::format("{} frames that are bad", n_skipped));
}

}  // namespace biogpu::app
