// `biogpu infer relax`: minima of energy.
#include <fmt/format.h>

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/biogpu/command_line/option_group.hpp"
#include "apps/biogpu/command_line/value_checks.hpp"
#include "apps/biogpu/infer/commands.hpp"
#include "apps/biogpu/infer/molecules/molecule_run.hpp"
#include "apps/biogpu/infer/molecules/two_texts.hpp"
#include "lib/core/error.hpp"
#include "lib/io/output_file.hpp"
#include "lib/tasks/molecule/relax.hpp"

namespace biogpu::app {
namespace {

struct RelaxFlags {
  MoleculeFlags molecules;
  tasks::RelaxOptions options;
  std::string keep = "all";
  std::string table;
};

// Atoms of all frames of a batch that are kept, some 200 bytes each.
constexpr std::size_t kMaxKeptAtoms = std::size_t{1} << 21;
// The same of a molecule that is a batch alone: behind that only its last frame is kept.
constexpr std::size_t kMaxKeptOfOne = 4 * kMaxKeptAtoms;
constexpr char kRelaxHeader[] = "index\tnatoms\tsteps\tconverged\tenergy\tfmax\tunits\n";

// The texts of the molecules of a batch, in their order.
class RelaxTexts {
 public:
  RelaxTexts(const MoleculeRun& run, const RelaxFlags& flags, tasks::MoleculeBatch& batch)
      : ev_per_energy_(run.info().ev_per_energy),
        flags_(flags),
        batch_(batch),
        options_{true, flags.options.relax_box, tasks::find_energy_unit(flags.molecules.units)},
        frames_(batch.size()),
        lines_(batch.size()) {}

  void add(const tasks::RelaxPoint& point, std::vector<std::string>& warnings) {
    const std::string& place = batch_.places[point.index];
    molecule::Molecule& molecule = batch_.molecules[point.index];
    molecule.positions = point.system->positions;
    molecule.box = point.system->box;
    molecule.velocities.clear();
    molecule::FrameResults frame =
        tasks::frame_results(*point.system, *point.result, ev_per_energy_, options_);
    const double fmax = tasks::max_force(frame.forces);
    frame.pairs.emplace_back("step", std::to_string(point.step));
    frame.pairs.emplace_back("converged", point.converged ? "T" : "F");
    if (point.is_last || is_kept(point, warnings))
      molecule::append_extxyz(frames_[point.index], molecule, frame);
    if (!point.is_last) return;
    const char* const unit = options_.unit.name;
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

  std::string joined() const {
    std::string frames, lines;
    for (std::size_t i = 0; i < frames_.size(); ++i) {
      frames += frames_[i];
      lines += lines_[i];
    }
    return join_texts(frames, lines);
  }

 private:
  bool is_kept(const tasks::RelaxPoint& point, std::vector<std::string>& warnings) {
    if (flags_.keep != "all" || is_full_) return false;
    n_kept_atoms_ += batch_.molecules[point.index].n_atoms();
    is_full_ = n_kept_atoms_ > kMaxKeptOfOne;
    if (is_full_)
      warnings.push_back(fmt::format(
          "{}: frames from step {} on are not kept, but for the last: those before have "
          "{} atoms; --keep last keeps none of them",
          batch_.places[point.index], point.step, kMaxKeptOfOne));
    return !is_full_;
  }

  const double ev_per_energy_;
  const RelaxFlags& flags_;
  tasks::MoleculeBatch& batch_;
  const tasks::EnergyOptions options_;
  std::vector<std::string> frames_, lines_;
  std::size_t n_kept_atoms_ = 0;
  bool is_full_ = false;
};

void run_relax(RelaxFlags flags, const std::string& command_line) {
  InferFlags& infer = flags.molecules.infer;
  if (infer.output != "-" && !has_frame_suffix(infer.output))
    throw Error(
        ErrorCode::usage,
        fmt::format("'{}' has no suffix of frames; expected .extxyz or .xyz", infer.output));
  if (!flags.table.empty()) {
    require_table_name(flags.table);
    infer.also_written.push_back({"--table", flags.table});
  }
  MoleculeRun run(flags.molecules, "infer relax", command_line, flags.options.max_steps);
  if (flags.keep == "all")
    run.limit_batch(kMaxKeptAtoms / (static_cast<std::size_t>(flags.options.max_steps) + 1));
  io::OutputFile out(infer.output, infer.shared.threads);
  std::optional<io::OutputFile> table;
  if (!flags.table.empty()) {
    table.emplace(flags.table, infer.shared.threads);
    table->write(kRelaxHeader);
  }
  run.run(
      [&](models::PotentialModel& model, tasks::MoleculeBatch& batch,
          pipeline::RecordOutputs& result) {
        std::vector<models::AtomSystem> systems =
            tasks::make_systems(model, batch, flags.molecules.charge);
        RelaxTexts texts(run, flags, batch);
        tasks::relax(model, systems, batch.places, flags.options,
                     [&](const tasks::RelaxPoint& point) { texts.add(point, result.warnings); });
        result.text = texts.joined();
      },
      [&](const pipeline::RecordOutputs& result) {
        const auto [frames, lines] = split_texts(result.text);
        out.write(frames);
        if (table) table->write(lines);
      });
  out.finish();
  if (table) table->finish();
  run.finish(out.bytes(), [&] {
    out.commit();
    if (table) table->commit();
  });
}

void add_relax_options(const OptionGroup& options, RelaxFlags& flags) {
  const double most = std::numeric_limits<double>::max();
  options.option("-o,--output", flags.molecules.infer.output, "frames as extxyz [-, stdout]",
                 "FILE");
  options.option("--table", flags.table, "steps, energy and force of each relaxed molecule", "TSV");
  options
      .option("--keep", flags.keep, "frames to write: all, or the last of a molecule [all]",
              "WHICH")
      ->transform(one_of({"all", "last"}));
  options.option("--optimizer", flags.options.optimizer, "lbfgs or fire [lbfgs]", "NAME")
      ->transform(one_of({"lbfgs", "fire"}));
  options
      .option("--fmax", flags.options.max_force,
              "converged where no force is larger, in eV/A [0.05]", "X")
      ->transform(in_range(0.0, most));
  CLI::Option* const cell =
      options.flag("--cell", flags.options.relax_box, "relax the box of frames that have one, too");
  options
      .option("--smax", flags.options.max_stress,
              "with --cell: and no component of the stress, in eV/A^3 [0.0001]", "X")
      ->needs(cell)
      ->transform(in_range(0.0, most));
  options.option("--steps", flags.options.max_steps, "steps at most [500]", "N")
      ->transform(in_range(0, 1 << 30));
  options
      .option("--max-step", flags.options.step_limit,
              "distance that an atom moves in one step at most, in A [0.2]", "X")
      ->transform(in_range(1e-6, 10.0));
}

}  // namespace

Run add_infer_relax(CLI::App& command) {
  const auto flags = std::make_shared<RelaxFlags>();
  const OptionGroup options(command);
  add_relax_options(options, *flags);
  add_molecule_flags(command, flags->molecules);
  add_infer_shard_flag(command, flags->molecules.infer,
                       "part I of N of the molecules; the outputs are joined by cat");
  command.footer(
      std::string(
          "Each molecule is moved to a minimum of its energy on its own. Its frames have step,\n"
          "converged, energy and forces, with --cell the stress. Lengths are in Angstrom, stress\n"
          "in eV/A^3, energies in --units. One that does not converge is written with a warning.\n"
          "Columns of --table: index (from 1), natoms, steps, converged, energy, fmax, units.\n\n"
          "Examples:\n"
          "  biogpu infer relax --model aceff --keep last ligands.sdf -o "
          "relaxed.extxyz\n"
          "  biogpu infer relax --model matpes-pbe --cell --fmax 0.001 crystals.extxyz \\\n"
          "      -o steps.extxyz --table relaxed.tsv\n\n") +
      kExitCodes);
  return [flags](const std::string& command_line) { run_relax(*flags, command_line); };
}

}  // namespace biogpu::app
