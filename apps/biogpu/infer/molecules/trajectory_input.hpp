#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/biogpu/infer/molecules/molecule_input.hpp"
#include "lib/io/shard.hpp"

namespace biogpu::app {

// Which frames of trajectories are written.
struct TrajectoryPlan {
  std::uint64_t n_steps = 1000;  // the number of the last
  std::uint64_t interval = 100;  // steps between frames; the last one is written too
  // Go on from this frame of the input, from 1, with its velocities and its step, which is not
  // written again; kLastFrame: from the last. Not given: each frame of the input begins a
  // trajectory.
  std::optional<std::uint64_t> restart;
};
inline constexpr std::uint64_t kLastFrame = 0;
// The largest number of a trajectory, from 1: so many random numbers tell apart.
inline constexpr std::uint64_t kMaxTrajectory = (std::uint64_t{1} << 31) - 1;

struct TrajectoryFrame {
  std::uint64_t trajectory = 0;  // number of it, from 0
  std::uint64_t step = 0;        // to be reached
  molecule::Molecule start;      // that the trajectory begins with
  std::uint64_t first_step = 0;  // of the start
  std::string place;             // of the start, for errors
};

// Frames of trajectories that are to be computed.
class TrajectorySource : public ItemSource<TrajectoryFrame> {
 public:
  TrajectorySource(std::vector<std::string> paths, const io::Shard& shard, TrajectoryPlan plan)
      : source_(std::move(paths), shard), plan_(plan) {}

  void set_rules(FrameRules& rules) { source_.set_rules(rules); }
  bool next(TrajectoryFrame& frame) override;
  std::vector<report::InputFile> files() const override { return source_.files(); }

 private:
  bool next_trajectory();
  void restart_from(MoleculeRecord& record);

  MoleculeSource source_;
  const TrajectoryPlan plan_;
  bool has_trajectory_ = false;
  TrajectoryFrame next_;
};

// The step and the trajectory that a frame says it is of, from 0. Throws Error{bad_input} where it
// does not, or has no velocities.
struct FrameNumbers {
  std::uint64_t step = 0;
  std::uint64_t trajectory = 0;
};
FrameNumbers numbers_of(const molecule::Molecule& frame, const std::string& place);

}  // namespace biogpu::app
