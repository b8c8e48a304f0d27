// `biogpu infer relax`: minima of energy.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
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
#include "apps/biogpu/infer/molecules/relax_texts.hpp"
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

void run_relax(RelaxFlags flags, const std::string& command_line) {
  InferFlags& infer = flags.molecules.infer;
  if (!flags.table.empty()) infer.also_written.push_back({"--table", flags.table});
  MoleculeRun run(flags.molecules, "infer relax", command_line, flags.options.max_steps);
  if (flags.keep == "all")
    run.limit_batch(kMaxKeptAtoms / (static_cast<std::size_t>(flags.options.max_steps) + 1));
  const RelaxTexts::Options texts_options{
      .ev_per_energy = run.info().ev_per_energy,
      .energy = {true, flags.options.relax_box, tasks::find_energy_unit(flags.molecules.units)},
      .keep_all = flags.keep == "all"};
  io::OutputFile out(infer.output, infer.shared.threads);
  std::optional<io::OutputFile> table;
  if (!flags.table.empty()) {
    table.emplace(flags.table, infer.shared.threads);
    table->write(RelaxTexts::kHeader);
  }
  RelaxEnds ends;
  run.run(
      [&](tasks::MoleculeBatch& batch, pipeline::RecordOutputs& result) {
        std::vector<models::AtomSystem> systems = tasks::make_systems(run.model(), batch);
        std::vector<std::vector<std::uint8_t>> fixed;
        for (const molecule::Molecule& molecule : batch.molecules) fixed.push_back(molecule.fixed);
        RelaxTexts texts(texts_options, batch);
        tasks::OnRefused leave_out;
        if (infer.skip_bad)
          leave_out = [&](std::size_t index, const std::string& what) {
            texts.leave_out(index);
            result.n_residues -= batch.molecules[index].n_atoms();
            result.warnings.push_back("skipped: " + what);
          };
        run.use_model([&](models::PotentialModel& model) {
          tasks::relax(
              model, systems, batch.places, flags.options,
              [&](const tasks::RelaxPoint& point) { texts.add(point, result.warnings); }, leave_out,
              fixed);
        });
        result.text = texts.joined();
      },
      [&](const pipeline::RecordOutputs& result) {
        const auto [frames, lines] = split_texts(result.text);
        out.write(frames);
        if (table) table->write(lines);
        // A line for each molecule but those that were left out, also of what --resume had.
        const auto n_lines = std::count(lines.begin(), lines.end(), '\n');
        run.add_skipped(result.n_records - static_cast<std::uint64_t>(n_lines));
        ends.add(lines);
      });
  out.finish();
  if (table) table->finish();
  run.log().info(ends.text());
  run.finish(out.bytes(), [&] {
    out.commit();
    if (table) table->commit();
  });
}

void add_relax_options(const OptionGroup& options, RelaxFlags& flags) {
  const double most = std::numeric_limits<double>::max();
  options
      .option("-o,--output", flags.molecules.infer.output,
              "write the relaxed frames as extxyz to this file [-, standard output]", "FILE")
      ->check(output_name({"extxyz"}));
  options
      .option("--table", flags.table,
              "write the steps, energy and force of each relaxed molecule to this table", "TSV")
      ->check(table_name());
  options
      .option("--keep", flags.keep, "write all frames, or the last of each molecule [all]", "WHICH")
      ->transform(one_of({"all", "last"}));
  options
      .option("--optimizer", flags.options.optimizer,
              "minimise the energy by lbfgs or fire [lbfgs]", "NAME")
      ->transform(one_of({"lbfgs", "fire"}));
  options
      .option("--fmax", flags.options.max_force,
              "end where no force is larger than this, in eV/A [0.05]", "X")
      ->transform(in_range(0.0, most));
  CLI::Option* const cell =
      options.flag("--cell", flags.options.relax_box, "relax the box of frames that have one, too");
  options
      .option(
          "--smax", flags.options.max_stress,
          "end with --cell where no component of the stress is larger either, in eV/A^3 [0.0001]",
          "X")
      ->needs(cell)
      ->transform(in_range(0.0, most));
  options
      .option("--steps", flags.options.max_steps,
              "end after N steps, when a frame counts as not converged [500]", "N")
      ->transform(in_range(0, 1 << 30));
  options
      .option("--max-step", flags.options.step_limit,
              "move an atom by at most this distance in one step, in A [0.2]", "X")
      ->transform(in_range(1e-6, 10.0));
}

}  // namespace

Run add_infer_relax(CLI::App& command) {
  const auto flags = std::make_shared<RelaxFlags>();
  const OptionGroup options(command);
  add_relax_options(options, *flags);
  add_molecule_flags(command, flags->molecules);
  add_skip_bad_flag(
      command, flags->molecules.infer,
      "molecules that are malformed, or that the model refuses at the start or during "
      "relaxation");
  add_infer_shard_flag(command, flags->molecules.infer,
                       "relax part I of N of the molecules; 'cat' joins the outputs");
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
