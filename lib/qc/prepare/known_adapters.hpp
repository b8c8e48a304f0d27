#pragma once

#include <string_view>

namespace biogpu::qc {

// The first of the known adapters, in lexicographic order, that the sequence begins with; empty
// when there is none.
std::string_view known_adapter(std::string_view sequence);

}  // namespace biogpu::qc
