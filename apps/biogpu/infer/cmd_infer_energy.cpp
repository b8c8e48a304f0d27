// `biogpu infer energy`: energies, forces and stresses of molecules and crystals.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apps/biogpu/command_line/option_group.hpp"
#include "apps/biogpu/command_line/value_checks.hpp"
#include "apps/biogpu/infer/commands.hpp"
#include "apps/biogpu/infer/molecules/molecule_run.hpp"
#include "lib/io/output/suffix.hpp"
#include "lib/io/output_file.hpp"
#include "lib/tasks/molecule/energy.hpp"

namespace biogpu::app {
namespace {

struct EnergyFlags {
  MoleculeFlags molecules;
  bool forces = false;
  bool stress = false;
};

void run_energy(const EnergyFlags& flags, const std::string& command_line) {
  const InferFlags& infer = flags.molecules.infer;
  const bool as_frames = io::suffix_of(infer.output).format == "extxyz";
  const tasks::EnergyOptions options{flags.forces, flags.stress,
                                     tasks::find_energy_unit(flags.molecules.units)};
  MoleculeRun run(flags.molecules, "infer energy", command_line, 1);
  io::OutputFile out(infer.output, infer.shared.threads);
  if (!as_frames) out.write(tasks::energy_header(options));
  run.run(
      [&](tasks::MoleculeBatch& batch, pipeline::RecordOutputs& result) {
        const auto systems = tasks::make_systems(run.model(), batch);
        std::vector<models::PotentialResult> computed;
        run.use_model([&](models::PotentialModel& model) {
          computed =
              tasks::compute_systems(model, systems, [&](std::size_t i) { return batch.places[i]; },
                                     {flags.forces, flags.stress, false});
        });
        for (std::size_t i = 0; i < batch.size(); ++i) {
          tasks::require_finite(computed[i], batch.places[i]);
          const molecule::FrameResults frame = tasks::frame_results(
              systems[i], std::move(computed[i]), run.info().ev_per_energy, options);
          if (as_frames)
            molecule::append_extxyz(result.text, batch.molecules[i], frame);
          else
            tasks::append_energy_line(result.text, batch.numbers[i] + 1,
                                      batch.molecules[i].n_atoms(), frame, options);
        }
      },
      [&](const pipeline::RecordOutputs& result) { out.write(result.text); }, 2);
  run.finish(out.bytes(), [&] { out.commit(); });
}

}  // namespace

Run add_infer_energy(CLI::App& command) {
  const auto flags = std::make_shared<EnergyFlags>();
  const OptionGroup options(command);
  options
      .option("-o,--output", flags->molecules.infer.output,
              "write frames with results (.extxyz) or a table (.tsv) to this file [-, a table on "
              "standard output]",
              "FILE")
      ->check(output_name({"tsv", "txt", "extxyz"}));
  options.flag("--forces", flags->forces,
               "write forces (extxyz), or the largest one (column fmax of a table)");
  options.flag("--stress", flags->stress,
               "write the stress of frames with a box, tension positive");
  add_molecule_flags(command, flags->molecules);
  add_skip_bad_flag(command, flags->molecules.infer,
                    "frames that are malformed or do not fit the model");
  add_infer_shard_flag(command, flags->molecules.infer,
                       "compute part I of N of the frames; 'biogpu gather' joins the tables");
  command.footer(
      std::string("Columns: index (from 1), natoms, energy, fmax, stress_xx to stress_xy, units.\n"
                  "Lengths are in Angstrom, stress in eV/A^3, energies in --units.\n\n"
                  "Examples:\n"
                  "  biogpu infer energy --model matpes-pbe crystals.extxyz -o energies.tsv\n"
                  "  biogpu infer energy --model matpes-pbe --forces --stress crystals.extxyz \\\n"
                  "      -o computed.extxyz\n"
                  "  biogpu infer energy --model aceff --units kcal/mol ligands.sdf\n\n") +
      kExitCodes);
  return [flags](const std::string& command_line) { run_energy(*flags, command_line); };
}

}  // namespace biogpu::app
