#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace biogpu::qc {

// Appends the offset of every '\n' in [text, text + n), in order; n is below 2^32.
void find_line_ends(const char* text, std::size_t n, std::vector<std::uint32_t>& ends);

}  // namespace biogpu::qc
