#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "apps/biogpu/infer/dna/head_choice.hpp"
#include "apps/biogpu/infer/run/infer_flags.hpp"
#include "lib/models/base/dna_model.hpp"
#include "lib/tasks/dna/window_source.hpp"

namespace biogpu::app {

// Options of the subcommands that run a model of DNA.
struct DnaFlags {
  InferFlags infer;
  HeadFlags heads;
  std::string n_value = "0";  // of an unknown letter in each of the four inputs
};

void add_dna_flags(CLI::App& command, DnaFlags& flags);
// Those that models of proteins do not have.
void add_letter_flags(CLI::App& command, DnaFlags& flags);
// The code of letters that are none of A, C, G, T.
std::uint8_t unknown_code(const DnaFlags& flags);

// And of those over windows of files or of a genome.
struct WindowFlags {
  DnaFlags dna;
  tasks::GenomeRegions regions;
  std::string fit = "exact";
  bool tile = false;                    // windows cover regions of any length
  std::optional<std::int64_t> overlap;  // of these
};

void add_window_flags(CLI::App& command, WindowFlags& flags);
// Where windows are, but for the files.
void add_region_flags(CLI::App& command, WindowFlags& flags);

// With standard input where no input is given. Throws Error{usage} where flags do not go together.
WindowFlags checked_flags(WindowFlags flags);

// The windows that the flags stand for. flags: of checked_flags().
std::unique_ptr<tasks::WindowSource> open_windows(const WindowFlags& flags,
                                                  const models::DnaModel& model);

}  // namespace biogpu::app
