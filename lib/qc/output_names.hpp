#pragma once

#include "lib/qc/options.hpp"

namespace biogpu::qc {

// Throws where a file would be written twice or is read too, Error{usage}, or where one exists and
// --dont_overwrite is given, Error{failed}.
void check_output_names(const Options& options);

}  // namespace biogpu::qc
