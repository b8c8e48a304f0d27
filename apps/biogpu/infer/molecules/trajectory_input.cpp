#include "apps/biogpu/infer/molecules/trajectory_input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"

namespace biogpu::app {
namespace {

// Steps are counted far below 2^64.
constexpr std::uint64_t kMaxStep = std::uint64_t{1} << 53;

std::uint64_t read_number(const molecule::Molecule& frame, const char* key, std::uint64_t least,
                          std::uint64_t most, const std::string& place) {
  const std::string* const text = frame.find_info(key);
  std::uint64_t value = 0;
  if (text != nullptr) {
    const char* const end = text->data() + text->size();
    const auto read = std::from_chars(text->data(), end, value);
    if (read.ec == std::errc() && read.ptr == end && value >= least && value <= most) return value;
  }
  throw Error(
      ErrorCode::bad_input,
      text == nullptr
          ? fmt::format("{}: has no {}=; expected a frame that 'biogpu infer md' wrote", place, key)
          : fmt::format("{}: {}={} is no number of it", place, key, quoted(*text)));
}

}  // namespace

FrameNumbers numbers_of(const molecule::Molecule& frame, const std::string& place) {
  if (frame.velocities.empty())
    throw Error(ErrorCode::bad_input,
                place + ": has no velocities; expected a frame that 'biogpu infer md' wrote");
  return {read_number(frame, "step", 0, kMaxStep, place),
          read_number(frame, "trajectory", 1, kMaxTrajectory, place) - 1};
}

void TrajectorySource::restart_from(MoleculeRecord& record) {
  const FrameNumbers numbers = numbers_of(record.molecule, record.place);
  next_.trajectory = numbers.trajectory;
  next_.first_step = numbers.step;
}

bool TrajectorySource::next_trajectory() {
  MoleculeRecord record;
  if (!plan_.restart) {
    if (!source_.next(record)) return false;
    if (record.number >= kMaxTrajectory)
      throw Error(ErrorCode::bad_input, record.place + ": more trajectories than can be numbered");
    next_ = {record.number, 0, {}, 0, record.place};
    next_.start = std::move(record.molecule);
    return has_trajectory_ = true;
  }
  if (!next_.place.empty()) return false;  // that one trajectory is done
  std::uint64_t n = 0;
  for (MoleculeRecord other; source_.next(other);) {
    record = std::move(other);
    if (++n == *plan_.restart) break;
  }
  if (n == 0 || (*plan_.restart != kLastFrame && n != *plan_.restart))
    throw Error(ErrorCode::usage,
                fmt::format("--restart {}: the input has {} frames", *plan_.restart, n));
  next_.place = record.place;
  restart_from(record);
  next_.start = std::move(record.molecule);
  next_.step = next_.first_step + plan_.interval - next_.first_step % plan_.interval;
  if (next_.first_step >= plan_.n_steps)
    throw Error(ErrorCode::usage,
                fmt::format("--restart: {} is step {}; --steps {} is not beyond it", record.place,
                            next_.first_step, plan_.n_steps));
  next_.step = std::min(next_.step, plan_.n_steps);
  return has_trajectory_ = true;
}

bool TrajectorySource::next(TrajectoryFrame& frame) {
  if (!has_trajectory_ && !next_trajectory()) return false;
  frame = next_;
  if (next_.step == plan_.n_steps)
    has_trajectory_ = false;
  else
    next_.step = std::min(plan_.n_steps, next_.step + plan_.interval);
  return true;
}

}  // namespace biogpu::app
