#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "apps/biogpu/infer/run/infer_flags.hpp"

namespace biogpu::app {

// Options of the subcommands that run a potential over molecules.
struct MoleculeFlags {
  InferFlags infer;
  std::optional<std::int32_t> charge;  // of molecules whose file tells none
  std::string units = "eV";
};

void add_molecule_flags(CLI::App& command, MoleculeFlags& flags);

}  // namespace biogpu::app
