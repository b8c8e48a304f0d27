#include "apps/biogpu/infer/molecules/molecule_flags.hpp"

#include <string>
#include <vector>

#include "apps/biogpu/command_line/option_group.hpp"
#include "apps/biogpu/command_line/value_checks.hpp"
#include "lib/tasks/molecule/units.hpp"

namespace biogpu::app {

void add_molecule_flags(CLI::App& command, MoleculeFlags& flags) {
  const OptionGroup options(command);
  options.option("FILE", flags.infer.inputs,
                 "xyz, extxyz, PDB, SDF or MOL, plain or gzip; none or -: xyz on standard input",
                 " ");
  add_model_flag(command, flags.infer);
  options
      .option("--charge", flags.charge,
              "total charge of molecules whose file tells none, in elementary charges", "Q")
      ->transform(in_range(-1000, 1000));
  std::vector<std::string> units;
  for (const tasks::EnergyUnit& unit : tasks::kEnergyUnits) units.emplace_back(unit.name);
  options.option("--units", flags.units, "of energies: eV, kcal/mol or hartree [eV]", "UNIT")
      ->transform(one_of(units));
  add_model_options(command, models::Reads::atoms);
  options
      .option("--precision", flags.infer.precision,
              "fp32, or fp64 (on the CPU, many times slower) [fp32]", "TYPE")
      ->transform(one_of({"auto", "fp32", "fp64"}));
  add_resume_flag(command, flags.infer);
  add_shared_flags(command, flags.infer.shared);
  command.get_option("--batch")->description(
      "largest number of atoms computed in one pass [chosen for the device]");
}

}  // namespace biogpu::app
