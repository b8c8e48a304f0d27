#pragma once

#include <string>
#include <vector>

#include "lib/core/stage_times.hpp"

namespace biogpu::report {

// The stages as lines of a table with a heading: threads, seconds, megabytes, megabytes a second of
// one busy thread, and what the stage waited for. What was not measured is '-'.
std::vector<std::string> stage_table(const std::vector<StageTimes>& stages);

}  // namespace biogpu::report
