#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "apps/biogpu/infer/molecules/molecule_flags.hpp"
#include "apps/biogpu/infer/molecules/molecule_input.hpp"
#include "apps/biogpu/infer/run/model_devices.hpp"
#include "apps/biogpu/infer/run/model_run.hpp"
#include "lib/models/base/potential_model.hpp"
#include "lib/pipeline/record_outputs.hpp"
#include "lib/tasks/molecule/energy.hpp"

namespace biogpu::app {

inline constexpr char kNoFrame[] = "the input has no frames; the output has no results";

// A potential on the devices of a run over molecules.
class PotentialDevices {
 public:
  // n_passes: about how often each molecule is computed. max_gpus: those that the command can use.
  // run outlives it.
  PotentialDevices(ModelRun& run, const MoleculeFlags& flags, double n_passes,
                   int max_gpus = kAllGpus);

  const models::PotentialModel::Info& info() const {
    return devices_.first<models::PotentialModel>().info();
  }
  ModelDevices& devices() { return devices_; }
  const ModelDevices& devices() const { return devices_; }
  std::size_t atoms_per_pass() const { return atoms_per_pass_; }
  // Of the model, for the fingerprint and the summary.
  std::string state() const;
  nlohmann::ordered_json describe() const;

 private:
  ModelDevices devices_;
  std::size_t atoms_per_pass_ = 1;
};

// From files of molecules through a potential to one ordered output.
class MoleculeRun {
 public:
  MoleculeRun(const MoleculeFlags& flags, std::string name, std::string command_line,
              double n_passes);

  const models::PotentialModel::Info& info() const { return devices_.info(); }
  // The first device's model, for checks that compute nothing.
  const models::PotentialModel& model() const {
    return devices_.devices().first<models::PotentialModel>();
  }
  // Calls use(PotentialModel&) with a free model; waits for one.
  template <class Use>
  void use_model(const Use& use) {
    devices_.devices().use<models::PotentialModel>(use);
  }
  using Compute = std::function<void(tasks::MoleculeBatch& batch, pipeline::RecordOutputs& result)>;
  // compute runs on any thread; write gets the results in the order of the input. With two workers
  // a device one prepares a batch or writes results as text while the other has the model; an error
  // in a batch then loses the one before it.
  void run(const Compute& compute,
           const std::function<void(const pipeline::RecordOutputs& result)>& write,
           int workers_a_device = 1);
  // Batches have no more atoms together, but one molecule.
  void limit_batch(std::size_t n_atoms) {
    input_.set_budget(std::min(n_atoms, devices_.atoms_per_pass()));
  }
  // Frames skipped during computation; the result does not contain them.
  void add_skipped(std::uint64_t n_frames) { n_skipped_ += n_frames; }
  // As ModelRun has it; throws at the end where frames were skipped.
  void finish(std::uint64_t output_bytes, const std::function<void()>& name_outputs);

 private:
  std::string units_;
  ModelRun run_;
  MoleculeInput input_;
  PotentialDevices devices_;
  FrameRules rules_;
  std::uint64_t n_skipped_ = 0;
};

// Nothing given is standard input.
InferFlags with_standard_input(InferFlags flags);

}  // namespace biogpu::app
