#pragma once

#include <cstdint>

#include <CLI/CLI.hpp>

namespace biogpu::app {

// in_range() for scores and gap costs: of a fraction it also says how to scale them.
CLI::Validator whole_score(std::int64_t least, std::int64_t most);

}  // namespace biogpu::app
