#include "lib/tasks/molecule/energy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "lib/core/error.hpp"

namespace biogpu::tasks {
namespace {

using models::AtomSystem;
using models::PotentialModel;
using models::PotentialResult;

// xx yy zz yz xz xy
constexpr std::array<std::size_t, 6> kVoigt{0, 4, 8, 5, 2, 1};

}  // namespace

AtomSystem make_system(const molecule::Molecule& molecule) {
  AtomSystem system;
  system.atomic_numbers = molecule.atomic_numbers;
  system.positions = molecule.positions;
  system.box = molecule.box;
  system.partial_charges = molecule.partial_charges;
  if (molecule.charge) system.total_charge = *molecule.charge;
  return system;
}

AtomSystem make_checked_system(const PotentialModel& model, const molecule::Molecule& molecule,
                               LazyText place) {
  try {
    AtomSystem system = make_system(molecule);
    model.check(system);
    return system;
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{}: {}", place.str(), error.what()));
  }
}

std::vector<AtomSystem> make_systems(const PotentialModel& model, const MoleculeBatch& batch) {
  std::vector<AtomSystem> systems;
  for (std::size_t i = 0; i < batch.size(); ++i)
    systems.push_back(make_checked_system(model, batch.molecules[i], batch.places[i]));
  return systems;
}

std::vector<PotentialResult> compute_systems(PotentialModel& model,
                                             std::span<const AtomSystem> systems,
                                             const PlaceOf& place,
                                             const PotentialModel::Request& request) {
  try {
    return model.compute(systems, request);
  } catch (const Error& error) {
    const bool is_short =
        error.code() == ErrorCode::device_memory || error.code() == ErrorCode::host_memory;
    if (systems.size() == 1)
      throw Error(error.code(), fmt::format("{}: {}", place(0), error.what()));
    if (!is_short) throw;
  }
  const std::size_t half = systems.size() / 2;
  std::vector<PotentialResult> results =
      compute_systems(model, systems.first(half), place, request);
  std::vector<PotentialResult> rest = compute_systems(
      model, systems.subspan(half), [&](std::size_t i) { return place(half + i); }, request);
  std::move(rest.begin(), rest.end(), std::back_inserter(results));
  return results;
}

void require_finite(const PotentialResult& result, LazyText place) {
  const auto finite = [](double x) { return std::isfinite(x); };
  if (!finite(result.energy) || !std::all_of(result.forces.begin(), result.forces.end(), finite) ||
      !std::all_of(result.virial.begin(), result.virial.end(), finite))
    throw Error(
        ErrorCode::failed,
        place.str() + ": the result is NaN or infinite; look at the weights and the positions");
}

double max_force(const std::vector<double>& forces, const std::vector<std::uint8_t>& fixed) {
  double most = 0;
  const auto force = [&](std::size_t i) { return fixed.empty() || !fixed[i] ? forces[i] : 0; };
  for (std::size_t i = 0; i < forces.size(); i += 3)
    most = std::max(most, std::hypot(force(i), force(i + 1), force(i + 2)));
  return most;
}

molecule::FrameResults frame_results(const AtomSystem& system, PotentialResult result,
                                     double ev_per_energy, const EnergyOptions& options) {
  const double scale = ev_per_energy / options.unit.ev;
  molecule::FrameResults frame;
  frame.energy = result.energy * scale;
  if (options.forces) {
    frame.forces = std::move(result.forces);
    for (double& force : frame.forces) force *= scale;
  }
  if (options.stress && system.box) {
    frame.stress = result.virial;
    for (double& x : *frame.stress) x *= ev_per_energy / models::volume_of(*system.box);
  }
  frame.pairs = unit_pairs(options, frame.stress.has_value());
  return frame;
}

std::vector<std::pair<std::string, std::string>> unit_pairs(const EnergyOptions& options,
                                                            bool has_stress) {
  std::vector<std::pair<std::string, std::string>> pairs{{"energy_unit", options.unit.name}};
  if (options.forces) pairs.emplace_back("force_unit", fmt::format("{}/A", options.unit.name));
  if (has_stress) pairs.emplace_back("stress_unit", "eV/A^3");
  return pairs;
}

std::string energy_header(const EnergyOptions& options) {
  std::string line = "index\tnatoms\tenergy";
  if (options.forces) line += "\tfmax";
  if (options.stress)
    for (const char* const axes : {"xx", "yy", "zz", "yz", "xz", "xy"})
      line += fmt::format("\tstress_{}", axes);
  return line + "\tunits\n";
}

void append_energy_line(std::string& text, std::uint64_t index, std::size_t n_atoms,
                        const molecule::FrameResults& results, const EnergyOptions& options) {
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "{}\t{}\t{:.8f}", index, n_atoms, results.energy.value_or(0));
  if (options.forces) fmt::format_to(out, "\t{:.8f}", max_force(results.forces));
  for (const std::size_t i : kVoigt) {
    if (!options.stress) break;
    text += results.stress ? fmt::format("\t{:.8g}", (*results.stress)[i]) : "\tNA";
  }
  fmt::format_to(out, "\t{}", options.unit.name);
  if (options.forces) fmt::format_to(out, ",{}/A", options.unit.name);
  if (options.stress) text += ",eV/A^3";
  text += '\n';
}

}  // namespace biogpu::tasks
