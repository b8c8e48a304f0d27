#pragma once

#include <cstddef>
#include <string>

namespace biogpu::qc {

// fastp's name for part n, counted from 0, of a split output.
std::string part_name(const std::string& path, std::size_t n, int digits);

}  // namespace biogpu::qc
