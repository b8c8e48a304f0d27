#include "apps/biogpu/infer/molecules/relax_texts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "apps/biogpu/infer/molecules/two_texts.hpp"
#include "lib/bio/molecule/extxyz_writer.hpp"
#include "lib/report/counted.hpp"

namespace biogpu::app {

void RelaxTexts::add(const tasks::RelaxPoint& point, std::vector<std::string>& warnings) {
  const std::string& place = batch_.places[point.index];
  molecule::Molecule& molecule = batch_.molecules[point.index];
  molecule.positions = point.system->positions;
  molecule.box = point.system->box;
  molecule.velocities.clear();
  molecule::FrameResults frame =
      tasks::frame_results(*point.system, *point.result, options_.ev_per_energy, options_.energy);
  const double fmax = tasks::max_force(frame.forces, molecule.fixed);
  frame.pairs.emplace_back("step", std::to_string(point.step));
  frame.pairs.emplace_back("converged", point.converged ? "T" : "F");
  if (point.is_last || is_kept(point, warnings))
    molecule::append_extxyz(frames_[point.index], molecule, frame);
  if (!point.is_last) return;
  const char* const unit = options_.energy.unit.name;
  lines_[point.index] =
      fmt::format("{}\t{}\t{}\t{}\t{:.8f}\t{:.8f}\t{},{}/A\n", batch_.numbers[point.index] + 1,
                  molecule.n_atoms(), point.step, point.converged ? "yes" : "no", *frame.energy,
                  fmax, unit, unit);
  if (!point.converged)
    warnings.push_back(
        fmt::format("{}: not converged in {} steps; the largest force is {:.4g} "
                    "{}/A",
                    place, point.step, fmax, unit));
}

void RelaxTexts::leave_out(std::size_t index) {
  frames_[index].clear();
  lines_[index].clear();
}

std::string RelaxTexts::joined() const {
  std::string frames, lines;
  for (std::size_t i = 0; i < frames_.size(); ++i) {
    frames += frames_[i];
    lines += lines_[i];
  }
  return join_texts(frames, lines);
}

bool RelaxTexts::is_kept(const tasks::RelaxPoint& point, std::vector<std::string>& warnings) {
  if (!options_.keep_all || is_full_) return false;
  const std::size_t n_atoms = batch_.molecules[point.index].n_atoms();
  is_full_ = n_kept_atoms_ + n_atoms > options_.max_kept_atoms;
  if (is_full_)
    warnings.push_back(
        fmt::format("{}: frames from step {} on are not kept, but for the last: those before have "
                    "{} atoms; --keep last keeps none of them",
                    batch_.places[point.index], point.step, n_kept_atoms_));
  n_kept_atoms_ += n_atoms;
  return !is_full_;
}

void RelaxEnds::add(std::string_view lines) {
  for (std::size_t end = 0; (end = lines.find('\n')) != lines.npos; lines.remove_prefix(end + 1)) {
    // index, natoms, steps, converged
    std::string_view line = lines.substr(0, end);
    for (int column = 0; column < 2; ++column) line.remove_prefix(line.find('\t') + 1);
    std::uint64_t steps = 0;
    const auto [rest, error] = std::from_chars(line.data(), line.data() + line.size(), steps);
    line.remove_prefix(static_cast<std::size_t>(rest - line.data()));
    ++n;
    n_converged += error == std::errc{} && line.starts_with("\tyes\t") ? 1 : 0;
    most_steps = std::max(most_steps, steps);
  }
}

std::string RelaxEnds::text() const {
  return fmt::format("{} of {} converged; the longest took {}", n_converged,
                     report::counted(n, "molecules"), report::counted(most_steps, "steps"));
}

}  // namespace biogpu::app
