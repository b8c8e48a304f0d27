#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lib/models/base/model.hpp"
#include "lib/models/potential/pair_list.hpp"

namespace biogpu::models {

// Atoms that belong together: a molecule, a crystal's cell, a frame of a trajectory.
struct AtomSystem {
  std::vector<std::int32_t> atomic_numbers;  // [n]
  std::vector<double> positions;             // [n, 3], Angstrom; with a box, inside it or outside
  std::optional<Box> box = {};               // periodic in all three directions
  std::optional<double> total_charge = {};   // elementary charges
  // Candidates for pairs, with a radius of at least the cutoff, of this box: for steps of dynamics,
  // which use a list again until atoms have moved by more than half of what the radius has to
  // spare. Null: the model finds the pairs by itself. Not owned.
  const PairList* pairs = nullptr;
  std::vector<double> partial_charges = {};  // [n], of atoms, elementary charges; or empty

  std::size_t n_atoms() const { return atomic_numbers.size(); }
};

// Which images of its neighbours an atom in a box sees.
enum class Images {
  nearest,  // one a pair: a box has to be at least twice as wide as the cutoff
  all,      // every image within the cutoff, those of the atom itself too
};

// What a model gives for a system, in Info::energy_unit and Angstrom.
struct PotentialResult {
  double energy = 0;                  // summed in double precision
  std::vector<double> forces;         // [n, 3]: -dE/dx; empty where not asked for
  std::array<double, 9> virial{};     // [3, 3]: dE/d(strain), positions and box times (1 + strain)
  std::vector<double> atom_energies;  // [n]; their sum and Info::energy_offset are the energy
};

// A model from atoms to an energy and its gradients. It computes in the precision of its context:
// fp32 with sums in double precision, or fp64 throughout.
class PotentialModel : public Model {
 public:
  struct Info {
    std::string architecture;            // "TensorNet"
    std::string dialect;                 // "matgl"
    std::string energy_unit;             // "eV", "kcal/mol", "hartree"
    double ev_per_energy = 1;            // eV in one unit of energy
    double energy_offset = 0;            // of a system, which belongs to no atom
    double cutoff = 0;                   // Angstrom: of pairs
    Images images = Images::nearest;     // in a box
    bool allows_box = true;              //
    std::optional<Box> default_box;      // of systems that have none
    bool uses_charge = false;            // whether results depend on the total charge
    bool needs_charge = false;           // whether it has to be given; else it is 0
    bool needs_partial_charges = false;  // of atoms
    bool finds_pairs = false;            // on a device: a list of pairs (AtomSystem) saves no time
    std::vector<std::int32_t> elements;  // atomic numbers, rising
    std::uint64_t n_parameters = 0;
  };
  struct Request {
    bool forces = true;
    bool virial = false;
    bool atom_energies = false;
  };

  const Info& info() const { return info_; }
  // Bound on the host memory of a pass; 0: none.
  void set_max_pass_bytes(std::uint64_t bytes) { max_pass_bytes_ = bytes; }

  // Throws Error{bad_input} with what is wrong with a system: an element that the model does not
  // know, charges that are missing, a box that does not fit the cutoff, numbers that are not
  // finite, two atoms at one place, atoms too dense to be matter.
  void check(const AtomSystem& system) const;

  // A result for each system. Systems fit: check() has passed. A system's bytes do not depend on
  // the others. Throws Error{device_memory} or Error{host_memory} where the batch is too large.
  virtual std::vector<PotentialResult> compute(std::span<const AtomSystem> systems,
                                               const Request& request) = 0;

 protected:
  explicit PotentialModel(tensor::Context& context) : Model(context) {}
  // Throws Error{host_memory} where the pass takes more than the bound.
  void require_memory(const Forward& forward) const;

  Info info_;

 private:
  std::uint64_t max_pass_bytes_ = 0;
};

// eV in one kcal/mol and one hartree.
inline constexpr double kEvPerKcalMol = 1 / 23.06054783;
inline constexpr double kEvPerHartree = 27.211386024367243;
inline constexpr double kGpaPerEvAngstrom3 = 160.21766208;

}  // namespace biogpu::models
