#pragma once

#include <vector>

#include "lib/core/stage_times.hpp"

namespace biogpu::app {

// Keeps what the process has used until its command begins: loading it, and reading the options.
void mark_command_start();

// What starting has cost so far: the process, and the parts of starting devices.
std::vector<StageTimes> start_stages();

// Adds the stages of a run behind those of its start.
void append_stages(std::vector<StageTimes>& stages, const std::vector<StageTimes>& more);

}  // namespace biogpu::app
