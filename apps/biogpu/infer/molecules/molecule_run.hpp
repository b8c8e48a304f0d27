#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <nlohmann/json.hpp>

#include "apps/biogpu/infer/molecules/molecule_flags.hpp"
#include "apps/biogpu/infer/molecules/molecule_input.hpp"
#include "apps/biogpu/infer/run/item_run.hpp"
#include "lib/models/base/potential_model.hpp"
#include "lib/pipeline/record_outputs.hpp"
#include "lib/tasks/molecule/energy.hpp"

namespace biogpu::app {

// Items whose cost is their number of atoms, for a potential. n_passes: about how often each is
// computed.
ItemKind potential_items(const InferFlags& flags, bool rate_of_atoms, double n_passes);

// Checks --charge, sets the bound of a pass and logs the model, of a run that begins.
void prepare_potential(models::PotentialModel& model, const MoleculeFlags& flags,
                       const DeviceChoice& device, const InferFlags& resolved, Log& log);

// The model, for the summary.
nlohmann::ordered_json describe_potential(const ModelDevices& devices);

// From files of molecules through a potential to one ordered output.
class MoleculeRun {
 public:
  MoleculeRun(const MoleculeFlags& flags, std::string name, std::string command_line,
              double n_passes);

  const models::PotentialModel::Info& info() const { return model().info(); }
  // The first device's model, for checks that compute nothing.
  const models::PotentialModel& model() const { return run_.model(); }
  // As ItemRun has them.
  template <class Use>
  void use_model(const Use& use) {
    run_.use_model(use);
  }
  Log& log() { return run_.log(); }
  void limit_batch(std::size_t n_atoms) { run_.limit_batch(n_atoms); }
  void add_skipped(std::uint64_t n_frames) { run_.add_skipped(n_frames); }
  using Compute = std::function<void(tasks::MoleculeBatch& batch, pipeline::RecordOutputs& result)>;
  void run(const Compute& compute,
           const std::function<void(const pipeline::RecordOutputs& result)>& write,
           int workers_a_device = 1);
  void finish(std::uint64_t output_bytes, const std::function<void()>& name_outputs);

 private:
  std::string units_;
  MoleculeSource* source_ = nullptr;  // of the run
  ItemRun<models::PotentialModel, MoleculeRecord> run_;
  FrameRules rules_;
};

}  // namespace biogpu::app
