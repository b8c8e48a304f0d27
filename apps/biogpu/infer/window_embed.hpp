#pragma once

#include <string>

#include "apps/biogpu/infer/dna_flags.hpp"

namespace biogpu::app {

// `biogpu infer embed` of a model of DNA: arrays [bins, width].
void run_window_embed(WindowFlags flags, bool both_strands, const std::string& command_line);

}  // namespace biogpu::app
