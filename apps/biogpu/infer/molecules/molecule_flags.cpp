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
                 "files of atoms: xyz, extxyz, PDB, SDF or MOL, plain or gzip; none or - is xyz on "
                 "standard input",
                 " ");
  add_model_flag(command, flags.infer);
  options
      .option("--charge", flags.charge,
              "set the total charge of molecules whose file has none, in elementary charges", "Q")
      ->transform(in_range(-1000, 1000));
  std::vector<std::string> units;
  for (const tasks::EnergyUnit& unit : tasks::kEnergyUnits) units.emplace_back(unit.name);
  options.option("--units", flags.units, "write energies in eV, kcal/mol or hartree [eV]", "UNIT")
      ->transform(one_of(units));
  add_model_options(command, models::Reads::atoms);
  options
      .option("--precision", flags.infer.precision,
              "compute in fp32, or in fp64 (on the CPU, many times slower) [fp32]", "TYPE")
      ->transform(one_of({"auto", "fp32", "fp64"}));
  add_resume_flag(command, flags.infer);
  add_shared_flags(command, flags.infer.shared);
  command.get_option("--batch")->description(
      "compute at most N atoms in one pass [chosen for the device]");
}

}  // namespace biogpu::app
