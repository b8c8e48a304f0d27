#pragma once

#include <string>

#include "lib/core/cost_model.hpp"
#include "lib/core/stage_times.hpp"

namespace biogpu::app {

// Adds the text of a file to the bytes of a work that is predicted: that of a name with the suffix
// of a compressed file is taken for four times as long as the file. A pipe adds nothing.
void add_file(cost::Work& work, const std::string& path);

// What a stage of a report tells of reading: busy seconds by the number of its threads.
double read_seconds(const StageTimes& stage);

}  // namespace biogpu::app
