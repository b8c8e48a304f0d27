#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lib/tasks/molecule/energy.hpp"
#include "lib/tasks/molecule/relax.hpp"

namespace biogpu::app {

// Atoms of all frames of a batch that are kept, some 200 bytes each.
inline constexpr std::size_t kMaxKeptAtoms = std::size_t{1} << 21;

// The frames and the lines of the table of the molecules of a batch, in their order.
class RelaxTexts {
 public:
  struct Options {
    double ev_per_energy = 1;
    tasks::EnergyOptions energy = {};
    bool keep_all = true;  // else the last frame of each molecule
    // Of a molecule that is a batch alone: behind that only its last frame is kept.
    std::size_t max_kept_atoms = 4 * kMaxKeptAtoms;
  };

  static constexpr char kHeader[] = "index\tnatoms\tsteps\tconverged\tenergy\tfmax\tunits\n";

  // batch outlives it; its molecules move with the points.
  RelaxTexts(const Options& options, tasks::MoleculeBatch& batch)
      : options_(options), batch_(batch), frames_(batch.size()), lines_(batch.size()) {}

  void add(const tasks::RelaxPoint& point, std::vector<std::string>& warnings);
  // Neither frames nor a line of this molecule.
  void leave_out(std::size_t index);

  // As join_texts() has them.
  std::string joined() const;

 private:
  bool is_kept(const tasks::RelaxPoint& point, std::vector<std::string>& warnings);

  const Options options_;
  tasks::MoleculeBatch& batch_;
  std::vector<std::string> frames_, lines_;
  std::size_t n_kept_atoms_ = 0;
  bool is_full_ = false;
};

// How relaxations ended, from lines of the table.
struct RelaxEnds {
  std::uint64_t n = 0;
  std::uint64_t n_converged = 0;
  std::uint64_t most_steps = 0;

  void add(std::string_view lines);
  // "2 of 3 molecules converged; at most 57 steps"
  std::string text() const;
};

}  // namespace biogpu::app
