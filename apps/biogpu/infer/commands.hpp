#pragma once

#include <CLI/CLI.hpp>

#include "apps/biogpu/command_line/command.hpp"

namespace biogpu::app {

// The subcommands of `biogpu infer`.
Run add_infer_embed(CLI::App& command);
Run add_infer_logits(CLI::App& command);
Run add_infer_contacts(CLI::App& command);
Run add_infer_fill_mask(CLI::App& command);
Run add_infer_score(CLI::App& command);
Run add_infer_design(CLI::App& command);
Run add_infer_trunk(CLI::App& command);
Run add_infer_tracks(CLI::App& command);
Run add_infer_variants(CLI::App& command);
Run add_infer_mutagenesis(CLI::App& command);
Run add_infer_energy(CLI::App& command);
Run add_infer_relax(CLI::App& command);
Run add_infer_md(CLI::App& command);
Run add_infer_affinity(CLI::App& command);
Run add_infer_recognize(CLI::App& command);
Run add_infer_info(CLI::App& command);
Run add_infer_models(CLI::App& command);
Run add_infer_bench(CLI::App& command);

}  // namespace biogpu::app
