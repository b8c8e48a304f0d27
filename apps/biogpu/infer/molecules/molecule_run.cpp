#include "apps/biogpu/infer/molecules/molecule_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "lib/core/error.hpp"

namespace biogpu::app {
namespace {

// Atoms of a pass: more do not make it faster.
constexpr std::uint64_t kCpuAtoms = 2048;
constexpr std::uint64_t kGpuAtoms = 32768;

}  // namespace

// A weight is multiplied some forty times an atom, for its pairs; an atom is some forty bytes of a
// file. A pipe is taken for a thousand atoms.
ItemKind potential_items(const InferFlags& flags, bool rate_of_atoms, double n_passes) {
  constexpr double kBytesOfPipe = 40e3;
  ItemKind kind;
  kind.words = {"frames", "atoms", rate_of_atoms};
  kind.n_products = std::max(file_bytes(flags.inputs), kBytesOfPipe) * n_passes;
  kind.cpu_batch = kCpuAtoms;
  kind.gpu_batch = kGpuAtoms;
  return kind;
}

void prepare_potential(models::PotentialModel& model, const MoleculeFlags& flags,
                       const DeviceChoice& device, const InferFlags& resolved, Log& log) {
  const models::PotentialModel::Info& info = model.info();
  if (flags.charge && !info.uses_charge)
    throw Error(ErrorCode::usage, "--charge: the model does not use charges");
  if (!device.on_gpu()) model.set_max_pass_bytes(resolved.shared.max_memory);
  log.detail(fmt::format("{}: {} ({}), cutoff {} Angstrom, energies in {}, on {}", resolved.model,
                         info.architecture, info.dialect, info.cutoff, info.energy_unit,
                         device.name));
}

nlohmann::ordered_json describe_potential(const ModelDevices& devices) {
  const models::PotentialModel::Info& info = devices.first<models::PotentialModel>().info();
  return {{"architecture", info.architecture},
          {"dialect", info.dialect},
          {"cutoff_A", info.cutoff},
          {"precision", devices.precision_name()}};
}

MoleculeRun::MoleculeRun(const MoleculeFlags& flags, std::string name, std::string command_line,
                         double n_passes)
    : units_(flags.units),
      run_(
          with_standard_input(flags.infer), std::move(name), std::move(command_line),
          potential_items(flags.infer, true, n_passes),
          [this](const InferFlags& infer) {
            auto source =
                std::make_unique<MoleculeSource>(infer.inputs, infer.shard, infer.bad_records());
            source_ = source.get();
            return source;
          },
          [](const MoleculeRecord& record) { return record.molecule.n_atoms(); }),
      rules_(info(), flags.charge, [this](const std::string& what) { run_.log().warn(what); }) {
  prepare_potential(run_.model(), flags, run_.device(), run_.flags(), run_.log());
  source_->set_rules(rules_);
  run_.leave_out_bad([this](const MoleculeRecord& record) {
    tasks::make_checked_system(model(), record.molecule, record.place);
  });
}

void MoleculeRun::run(const Compute& compute,
                      const std::function<void(const pipeline::RecordOutputs& result)>& write,
                      int workers_a_device) {
  const auto compute_items = [&](std::vector<MoleculeRecord>& items,
                                 pipeline::RecordOutputs& result) {
    tasks::MoleculeBatch batch;
    for (MoleculeRecord& item : items) {
      batch.molecules.push_back(std::move(item.molecule));
      batch.places.push_back(std::move(item.place));
      batch.numbers.push_back(item.number);
    }
    compute(batch, result);
  };
  run_.run(compute_items, write, workers_a_device);
}

void MoleculeRun::finish(std::uint64_t output_bytes, const std::function<void()>& name_outputs) {
  nlohmann::ordered_json result = {{"model", describe_potential(run_.devices())},
                                   {"energy_unit", units_}};
  run_.add_counts(result);
  run_.finish(output_bytes, std::move(result), name_outputs);
}

}  // namespace biogpu::app
