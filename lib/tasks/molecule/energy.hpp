#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lib/bio/molecule/extxyz_writer.hpp"
#include "lib/bio/molecule/molecule.hpp"
#include "lib/io/lazy_text.hpp"
#include "lib/models/base/potential_model.hpp"
#include "lib/tasks/molecule/units.hpp"

namespace biogpu::tasks {

// Molecules of the input, in its order.
struct MoleculeBatch {
  std::vector<molecule::Molecule> molecules;
  std::vector<std::string> places;     // "water.xyz: frame 3", for errors
  std::vector<std::uint64_t> numbers;  // in the input, from 0

  std::size_t size() const { return molecules.size(); }
};

// A molecule for a model.
models::AtomSystem make_system(const molecule::Molecule& molecule);

// Throws Error{bad_input} with the place where the model cannot compute the molecule.
models::AtomSystem make_checked_system(const models::PotentialModel& model,
                                       const molecule::Molecule& molecule, LazyText place);

// Those of a batch. Throws Error{bad_input} with the place of what the model cannot compute.
std::vector<models::AtomSystem> make_systems(const models::PotentialModel& model,
                                             const MoleculeBatch& batch);

// model.compute(), in halves where memory is short. place: of system i, for errors.
using PlaceOf = std::function<std::string(std::size_t i)>;
std::vector<models::PotentialResult> compute_systems(
    models::PotentialModel& model, std::span<const models::AtomSystem> systems,
    const PlaceOf& place, const models::PotentialModel::Request& request);

// Throws Error{failed} where the energy, a force or the virial is NaN or infinite. place: for the
// message.
void require_finite(const models::PotentialResult& result, LazyText place);

// Norm of the largest force; 0 without forces. fixed: as in molecule::Molecule; components of fixed
// axes do not count.
double max_force(const std::vector<double>& forces, const std::vector<std::uint8_t>& fixed = {});

struct EnergyOptions {
  bool forces = false;
  bool stress = false;  // of molecules with a box
  EnergyUnit unit = kEnergyUnits[0];
};

// Results in units of the output: energy and forces in the one that is asked for, stress in
// eV/Angstrom^3. ev_per_energy: of the model.
molecule::FrameResults frame_results(const models::AtomSystem& system,
                                     models::PotentialResult result, double ev_per_energy,
                                     const EnergyOptions& options);

// "eV", "eV/A" ... as pairs of an extxyz frame, which state what its numbers are in.
std::vector<std::pair<std::string, std::string>> unit_pairs(const EnergyOptions& options,
                                                            bool has_stress);

// A table: header, and the line of a molecule. index: from 1.
std::string energy_header(const EnergyOptions& options);
void append_energy_line(std::string& text, std::uint64_t index, std::size_t n_atoms,
                        const molecule::FrameResults& results, const EnergyOptions& options);

}  // namespace biogpu::tasks
