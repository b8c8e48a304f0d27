#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "apps/biogpu/infer/flags.hpp"
#include "lib/tasks/dna/window_source.hpp"

namespace biogpu::app {

// Options of the subcommands that run a model over windows of DNA.
struct DnaFlags {
  InferFlags infer;
  tasks::GenomeRegions regions;
  std::string fit = "exact";
  std::string gamma = "auto";
  std::string n_value = "0";  // of an unknown letter in each of the four inputs
};

void add_dna_flags(CLI::App& command, DnaFlags& flags);

// Those of the run, standard input where no input is given. Throws Error{usage} where they do not
// go together.
InferFlags checked_flags(const DnaFlags& flags);

// The windows that the flags stand for. infer: of checked_flags().
std::unique_ptr<tasks::WindowSource> open_windows(const DnaFlags& flags, const InferFlags& infer,
                                                  std::int64_t length);

}  // namespace biogpu::app
