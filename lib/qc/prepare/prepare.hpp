#pragma once

#include <functional>
#include <string>

#include "lib/qc/options/options.hpp"

namespace biogpu::qc {

// Looks at the first records of the input, as fastp does before it starts: read lengths, two-colour
// instruments (for poly-G), adapters, over-represented sequences, the size of split parts. Input
// that can be read only once, a pipe or standard input, is not looked at. `say` gets fastp's lines
// about it.
void prepare(Options& options, const std::function<void(const std::string&)>& say);

}  // namespace biogpu::qc
