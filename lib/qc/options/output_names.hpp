#pragma once

#include <cstddef>
#include <string>

#include "lib/qc/options/options.hpp"

namespace biogpu::qc {

// Throws where a file would be written twice or is read too, Error{usage}, or where one exists and
// --dont_overwrite is given, Error{failed}.
void check_output_names(const Options& options);

// fastp's name for part n, counted from 0, of a split output.
std::string part_name(const std::string& path, std::size_t n, int digits);

}  // namespace biogpu::qc
