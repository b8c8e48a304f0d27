#include "apps/biogpu/infer/molecules/trajectory_totals.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "lib/report/counted.hpp"

namespace biogpu::app {
namespace {

constexpr double kFsPerNs = 1e6;

// Takes the text before the next mark, and the mark, off text.
std::string_view take(std::string_view& text, char mark) {
  const std::size_t end = text.find(mark);
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(end == text.npos ? text.size() : end + 1);
  return part;
}

template <class Number>
Number take_number(std::string_view& text, char mark) {
  const std::string_view part = take(text, mark);
  Number number = 0;
  std::from_chars(part.data(), part.data() + part.size(), number);
  return number;
}

}  // namespace

void TrajectoryTotals::add(std::string_view frames, std::string_view lines) {
  while (!lines.empty()) {
    const auto n_atoms = take_number<std::uint64_t>(frames, '\n');
    for (std::uint64_t i = 0; i <= n_atoms; ++i) take(frames, '\n');  // comment and atoms
    add_frame(n_atoms, take(lines, '\n'));
  }
}

void TrajectoryTotals::add_frame(std::uint64_t n_atoms, std::string_view line) {
  const auto trajectory = take_number<std::uint64_t>(line, '\t');
  const auto step = take_number<std::uint64_t>(line, '\t');
  const auto time = take_number<double>(line, '\t');
  take(line, '\t');  // potential
  take(line, '\t');  // kinetic
  const auto energy = take_number<double>(line, '\t');
  const auto temperature = take_number<double>(line, '\t');
  if (sums_.n == 0 || trajectory != sums_.trajectory) {
    close_trajectory();
    sums_.trajectory = trajectory;
    sums_.first_step = step;
    sums_.n_atoms = n_atoms;
    sums_.first_time = time;
    sums_.first_energy = energy;
  }
  const double t = time - sums_.first_time;
  const double e = energy - sums_.first_energy;
  sums_.last_time = t;
  sums_.n += 1;
  sums_.time += t;
  sums_.energy += e;
  sums_.time_time += t * t;
  sums_.time_energy += t * e;
  if (step - sums_.first_step >= (n_steps_ - sums_.first_step) / 10) {
    sums_.n_temperatures += 1;
    sums_.temperature += temperature;
  }
}

void TrajectoryTotals::close_trajectory() {
  const Sums sums = std::exchange(sums_, {});
  if (sums.n == 0) return;
  ++n_trajectories_;
  if (sums.n_temperatures > 0) temperature_ += sums.temperature / sums.n_temperatures;
  if (!has_drift_ || sums.n < 2 || sums.n_atoms == 0) return;
  const double slope = (sums.n * sums.time_energy - sums.time * sums.energy) /
                       (sums.n * sums.time_time - sums.time * sums.time) /
                       static_cast<double>(sums.n_atoms);
  if (!largest_ || std::abs(slope * sums.last_time) > std::abs(largest_->whole))
    largest_ = Drift{slope * sums.last_time, slope * kFsPerNs};
}

std::string TrajectoryTotals::text() const {
  std::string text = fmt::format("{} to step {}; mean temperature {:.4g} K after the first tenth",
                                 report::counted(n_trajectories_, "trajectories"), n_steps_,
                                 temperature_ / static_cast<double>(n_trajectories_));
  if (largest_)
    text += fmt::format("; {}drift of the total energy {:.3g} {} per atom, {:.3g} per atom and ns",
                        n_trajectories_ > 1 ? "largest " : "", largest_->whole, unit_,
                        largest_->per_ns);
  return text;
}

void TrajectoryTotals::add_to(nlohmann::ordered_json& result) const {
  result["trajectories"] = n_trajectories_;
  result["last_step"] = n_steps_;
  if (n_trajectories_ > 0)
    result["mean_temperature_K"] = temperature_ / static_cast<double>(n_trajectories_);
  if (!largest_) return;
  result["drift_per_atom"] = largest_->whole;
  result["drift_per_atom_and_ns"] = largest_->per_ns;
}

}  // namespace biogpu::app
