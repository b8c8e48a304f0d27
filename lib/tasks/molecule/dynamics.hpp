#pragma once

#include <cstdint>
#include <vector>

#include "lib/models/base/potential_model.hpp"

namespace biogpu::tasks {

struct DynamicsOptions {
  double time_step = 0.5;  // fs
  bool langevin = false;   // else at constant energy
  double temperature = 0;  // K, of the bath
  double friction = 0.01;  // 1/fs
  std::uint64_t seed = 1;
  double skin = 0.5;  // Angstrom: what the list of pairs has beyond the cutoff
};

// What a trajectory goes on from: a frame that was written has all of it.
struct DynamicsState {
  models::AtomSystem system;
  std::vector<double> velocities;        // [n, 3], Angstrom/fs
  std::vector<double> masses;            // [n], dalton; empty: those of the elements
  std::vector<std::uint8_t> fixed = {};  // as in molecule::Molecule: velocities there are 0
  std::uint64_t step = 0;
  std::uint32_t trajectory = 0;  // number of it, from 0: its random numbers are its own
};

// Velocities of a temperature (Maxwell and Boltzmann), of axes that are not fixed. Without fixed
// ones their momenta add up to 0. masses, fixed: as in DynamicsState.
std::vector<double> draw_velocities(const models::AtomSystem& system, double temperature,
                                    std::uint64_t seed, std::uint32_t trajectory,
                                    std::vector<double> masses = {},
                                    const std::vector<std::uint8_t>& fixed = {});

// Moves atoms in time: velocity Verlet, or Langevin dynamics by the splitting BAOAB (Leimkuhler and
// Matthews 2013, doi 10.1093/amrx/abs010). Random numbers come from a counter of seed, trajectory,
// step and atom; pairs are listed in an order that does not depend on when the list was made. So a
// run that begins at a state goes on exactly as the run that the state was taken from.
class Dynamics {
 public:
  // The model outlives it. Computes the forces of the state. This and run() throw Error{failed}
  // with the step where an energy or a force is NaN or infinite.
  Dynamics(models::PotentialModel& model, DynamicsState state, const DynamicsOptions& options);

  void run(std::uint64_t n_steps);

  const DynamicsState& state() const { return state_; }
  // Of the state, in units of the model.
  const models::PotentialResult& result() const { return result_; }
  double kinetic_energy() const;  // eV
  double temperature() const;     // K, of the axes of atoms that are not fixed
  std::uint64_t n_lists() const { return n_lists_; }

 private:
  void kick(double time);   // velocities by forces
  void drift(double time);  // positions by velocities
  void compute();
  bool list_is_stale() const;

  models::PotentialModel& model_;
  const DynamicsOptions options_;
  DynamicsState state_;
  models::PotentialResult result_;
  models::PairList pairs_;
  std::vector<double> listed_positions_;  // that pairs_ was made for
  std::uint64_t n_lists_ = 0;
};

}  // namespace biogpu::tasks
