#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lib/models/proteinmpnn/work.hpp"

namespace biogpu::models::proteinmpnn {

// Works in batches of about as many residues of structures and of sequences as are given, and at
// least one of each: a work with more sequences comes in parts, each of which is encoded.
std::vector<std::vector<Work>> divide(std::span<const Work> works, std::int64_t most_rows,
                                      std::int64_t most_states);

}  // namespace biogpu::models::proteinmpnn
