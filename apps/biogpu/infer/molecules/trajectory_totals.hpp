#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

namespace biogpu::app {

// Mean temperature and energy drift of trajectories, from their frames and the lines of the table.
class TrajectoryTotals {
 public:
  // n_steps: the number of the last step. has_drift: of a run at constant energy; a thermostat
  // changes the total energy. unit: of energies in the lines.
  TrajectoryTotals(std::uint64_t n_steps, bool has_drift, std::string unit)
      : n_steps_(n_steps), has_drift_(has_drift), unit_(std::move(unit)) {}

  // Frames as extxyz with as many lines of the table.
  void add(std::string_view frames, std::string_view lines);
  // After the last frame, before what follows.
  void finish() { close_trajectory(); }

  std::uint64_t n_trajectories() const { return n_trajectories_; }
  // "1 trajectory to step 200; mean temperature 19.8 K after the first tenth; ..."
  std::string text() const;
  // The same for a summary.
  void add_to(nlohmann::ordered_json& result) const;

 private:
  // Drift of total energy, per atom.
  struct Drift {
    double whole = 0;  // over the trajectory
    double per_ns = 0;
  };
  // Sums over the frames of one trajectory; times and energies from those of its first frame.
  struct Sums {
    std::uint64_t trajectory = 0, first_step = 0, n_atoms = 0;
    double first_time = 0, first_energy = 0, last_time = 0;
    double n = 0, time = 0, energy = 0, time_time = 0, time_energy = 0;
    double n_temperatures = 0, temperature = 0;
  };

  void add_frame(std::uint64_t n_atoms, std::string_view line);
  void close_trajectory();

  std::uint64_t n_steps_;
  bool has_drift_;
  std::string unit_;
  Sums sums_;  // of the current trajectory
  std::uint64_t n_trajectories_ = 0;
  double temperature_ = 0;        // means of trajectories, added up
  std::optional<Drift> largest_;  // of trajectories with two frames or more
};

}  // namespace biogpu::app
