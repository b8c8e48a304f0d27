#pragma once

#include <optional>
#include <string>
#include <vector>

namespace biogpu::app {

// The arguments for the Parasail entry where the command line calls it: "biogpu align parasail
// ...", or a link named parasail_aligner. arguments[0] is the program.
std::optional<std::vector<std::string>> parasail_arguments(
    const std::vector<std::string>& arguments);

// Takes parasail_aligner's options and writes what it writes.
void run_parasail(const std::vector<std::string>& arguments);

}  // namespace biogpu::app
