#include "lib/c_api/potential.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "lib/c_api/calls.hpp"
#include "lib/core/error.hpp"
#include "lib/models/base/potential_model.hpp"
#include "lib/models/base/registry.hpp"
#include "lib/models/tensornet/tensornet.hpp"
#include "lib/structure/elements.hpp"
#include "lib/tensor/context.hpp"

struct biogpu_potential {
  std::unique_ptr<biogpu::tensor::Context> context;
  std::unique_ptr<biogpu::models::PotentialModel> model;
};

namespace {

using biogpu::Error;
using biogpu::ErrorCode;
using biogpu::c_api::guarded;
using biogpu::c_api::open_context;
using biogpu::c_api::require;
using biogpu::models::AtomSystem;
using biogpu::models::PairList;

// Atoms and pairs are numbered by 32 bits.
constexpr std::int64_t kMaxAtoms = std::numeric_limits<std::int32_t>::max() / 3;
constexpr char kPrecisions[] = "auto, fp32, fp64";

// For functions that give no code: what body() gives, or `otherwise` and a message.
template <class Value, class Body>
Value value_or(Value otherwise, const void* argument, const char* what, const Body& body) noexcept {
  guarded([&] {
    require(argument != nullptr, what);
    otherwise = body();
  });
  return otherwise;
}

PairList pairs_of(const biogpu_neighbours& from, std::int64_t n, bool has_box) {
  require(from.starts != nullptr && from.neighbours != nullptr, "neighbours without their arrays");
  require((from.shifts != nullptr) == has_box, "shifts of neighbours belong to a box");
  PairList pairs;
  pairs.radius = from.radius;
  pairs.starts.assign(from.starts, from.starts + n + 1);
  require(pairs.starts.front() == 0 && std::is_sorted(pairs.starts.begin(), pairs.starts.end()),
          "the starts of neighbours do not rise from 0");
  pairs.neighbours.assign(from.neighbours, from.neighbours + pairs.starts.back());
  for (const std::int32_t neighbour : pairs.neighbours)
    require(neighbour >= 0 && neighbour < n, "a neighbour that is no atom");
  if (has_box)
    for (std::size_t i = 0; i < pairs.neighbours.size(); ++i)
      pairs.shifts.push_back({from.shifts[3 * i], from.shifts[3 * i + 1], from.shifts[3 * i + 2]});
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i)
    for (auto k = static_cast<std::size_t>(pairs.starts[i]) + 1;
         k < static_cast<std::size_t>(pairs.starts[i + 1]); ++k) {
      const auto key = [&](std::size_t entry) {
        return std::pair(pairs.neighbours[entry],
                         has_box ? pairs.shifts[entry] : std::array<std::int32_t, 3>{});
      };
      require(key(k - 1) < key(k), "neighbours of an atom that are not sorted");
    }
  return pairs;
}

AtomSystem system_of(const biogpu_atoms& atoms, const double* partial_charges) {
  require(atoms.n > 0 && atoms.n <= kMaxAtoms, "a number of atoms below 1 or beyond 715827882");
  require(atoms.atomic_numbers != nullptr && atoms.positions != nullptr, "atoms without arrays");
  AtomSystem system;
  system.atomic_numbers.assign(atoms.atomic_numbers, atoms.atomic_numbers + atoms.n);
  system.positions.assign(atoms.positions, atoms.positions + 3 * atoms.n);
  if (atoms.box != nullptr) std::copy_n(atoms.box, 9, system.box.emplace().begin());
  if (atoms.charge != nullptr) system.total_charge = *atoms.charge;
  if (partial_charges != nullptr)
    system.partial_charges.assign(partial_charges, partial_charges + atoms.n);
  return system;
}

void compute(biogpu::models::PotentialModel& model, const biogpu_atoms& atoms,
             const double* partial_charges, double* energy, double* forces, double* virial) {
  AtomSystem system = system_of(atoms, partial_charges);
  if (model.info().needs_charge && atoms.charge == nullptr)
    throw Error(ErrorCode::bad_input, "the model needs the total charge: charge of atoms is NULL");
  if (model.info().needs_partial_charges && partial_charges == nullptr)
    throw Error(ErrorCode::bad_input, "the model needs partial charges of atoms, which are NULL");
  model.check(system);
  PairList pairs;
  if (atoms.neighbours != nullptr) {
    require(atoms.neighbours->radius >= model.info().cutoff,
            "neighbours within less than the cutoff");
    pairs = pairs_of(*atoms.neighbours, atoms.n, atoms.box != nullptr);
    system.pairs = &pairs;
  }
  const biogpu::models::PotentialResult result =
      model.compute({&system, 1}, {forces != nullptr, virial != nullptr, false}).front();
  if (!std::isfinite(result.energy))
    throw Error(ErrorCode::failed, "the energy is NaN or infinite; look at the weights");
  const double ev = model.info().ev_per_energy;
  *energy = ev * result.energy;
  for (std::size_t i = 0; forces != nullptr && i < result.forces.size(); ++i)
    forces[i] = ev * result.forces[i];
  for (std::size_t i = 0; virial != nullptr && i < 9; ++i) virial[i] = ev * result.virial[i];
}

constexpr const char* kNoPotential = "the potential is NULL";

}  // namespace

int biogpu_potential_version(void) { return BIOGPU_POTENTIAL_VERSION; }

int biogpu_potential_load(const char* folder, const char* device, const char* precision,
                          int n_threads, biogpu_potential** potential) {
  return biogpu_potential_load_with_references(folder, device, precision, n_threads, -1, potential);
}

int biogpu_potential_load_with_references(const char* folder, const char* device,
                                          const char* precision, int n_threads, int references,
                                          biogpu_potential** potential) {
  if (potential != nullptr) *potential = nullptr;
  return guarded([&] {
    require(folder != nullptr && device != nullptr && precision != nullptr && potential != nullptr,
            "an argument of biogpu_potential_load is NULL");
    require(references >= -1 && references <= 1, "references that are none of -1, 0 and 1");
    biogpu::models::LoadOptions options;
    if (references >= 0) options.values.set(biogpu::models::kAtomReferences, references == 1);
    auto loaded = std::make_unique<biogpu_potential>();
    loaded->context = open_context(device, precision, n_threads, kPrecisions);
    loaded->model = biogpu::models::load_model<biogpu::models::PotentialModel>(
        folder, "energy", *loaded->context, options);
    *potential = loaded.release();
  });
}

void biogpu_potential_free(biogpu_potential* potential) {
  guarded([&] { delete potential; });
}

const char* biogpu_potential_error(void) { return biogpu::c_api::last_error(); }

double biogpu_potential_cutoff(const biogpu_potential* potential) {
  return value_or(0.0, potential, kNoPotential, [&] { return potential->model->info().cutoff; });
}

int biogpu_potential_needs_charge(const biogpu_potential* potential) {
  return value_or(0, potential, kNoPotential,
                  [&] { return potential->model->info().needs_charge ? 1 : 0; });
}

int biogpu_potential_has_element(const biogpu_potential* potential, int32_t atomic_number) {
  return value_or(0, potential, kNoPotential, [&] {
    const auto& elements = potential->model->info().elements;
    return std::binary_search(elements.begin(), elements.end(), atomic_number) ? 1 : 0;
  });
}

int32_t biogpu_potential_atomic_number(const char* symbol) {
  return value_or(int32_t{0}, symbol, "the symbol is NULL", [&] {
    return static_cast<int32_t>(biogpu::structure::atomic_number_of(symbol));
  });
}

int biogpu_potential_needs_partial_charges(const biogpu_potential* potential) {
  return value_or(0, potential, kNoPotential,
                  [&] { return potential->model->info().needs_partial_charges ? 1 : 0; });
}

int biogpu_potential_compute(biogpu_potential* potential, const biogpu_atoms* atoms, double* energy,
                             double* forces, double* virial) {
  return biogpu_potential_compute_with_charges(potential, atoms, nullptr, energy, forces, virial);
}

int biogpu_potential_compute_with_charges(biogpu_potential* potential, const biogpu_atoms* atoms,
                                          const double* partial_charges, double* energy,
                                          double* forces, double* virial) {
  return guarded([&] {
    require(potential != nullptr && atoms != nullptr && energy != nullptr,
            "a potential, atoms or an energy to be computed is NULL");
    compute(*potential->model, *atoms, partial_charges, energy, forces, virial);
  });
}
