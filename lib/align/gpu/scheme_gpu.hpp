#pragma once

#include <cstdint>
#include <vector>

#include "gpu/align/cells.hpp"
#include "lib/align/align.hpp"
#include "lib/core/errors_gpu.hpp"

namespace biogpu::align {

// What the GPU backends of align and search share: options and tables in the kernels' form.

// [target class][query class] and a class for rows below a query: gpu::align::CellScheme::scores.
std::vector<std::int8_t> score_table(const Scoring& scoring);

// Scores against the first four classes, raised, as bytes of a word: CellScheme::packed_words. Used
// only where they fit; see allows_packed().
std::vector<std::uint32_t> packed_words(const Scoring& scoring, int raise);

// Costs and free ends; the tables are left to the caller.
gpu::align::CellScheme scheme_of(const Options& options);

}  // namespace biogpu::align
