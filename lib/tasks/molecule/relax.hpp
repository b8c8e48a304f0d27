#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lib/models/base/potential_model.hpp"

namespace biogpu::tasks {

struct RelaxOptions {
  std::string optimizer = "lbfgs";  // or "fire"
  double max_force = 0.05;          // eV/Angstrom: a system whose largest force is smaller is done
  double max_stress = 1e-4;         // eV/Angstrom^3: with the box, each component of the stress too
  int max_steps = 500;
  double step_limit = 0.2;  // Angstrom: of an atom in one step
  bool relax_box = false;   // of systems that have one: all six degrees of freedom of its shape
};

// A point of a relaxation.
struct RelaxPoint {
  std::size_t index = 0;  // of the system
  int step = 0;           // from 0
  bool converged = false;
  bool is_last = false;
  const models::AtomSystem* system = nullptr;
  const models::PotentialResult* result = nullptr;  // with the virial where the box relaxes
};

// Gets a system that a step led to and that the model refuses, such as a box that has become too
// narrow.
using OnRefused = std::function<void(std::size_t index, const std::string& what)>;

// Moves systems to a minimum of their energy, each on its own; the model computes those that are
// not done at once. Calls on_point with every point, those of one system in order. A system's
// points do not depend on the others. places: of the systems, for errors. fixed: of each system, as
// in molecule::Molecule, or empty: forces on fixed axes are left out of steps and of the criterion;
// a box that is to relax is refused then, as it moves all atoms. A system that is refused
// goes no further, and the others do; without on_refused this throws Error{bad_input}. Throws
// Error{failed} for results that are NaN or infinite.
void relax(models::PotentialModel& model, std::vector<models::AtomSystem>& systems,
           const std::vector<std::string>& places, const RelaxOptions& options,
           const std::function<void(const RelaxPoint&)>& on_point, const OnRefused& on_refused = {},
           const std::vector<std::vector<std::uint8_t>>& fixed = {});

}  // namespace biogpu::tasks
