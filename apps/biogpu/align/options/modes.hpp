#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/align/align.hpp"

namespace biogpu::app {

struct ModeName {
  const char* name;
  align::Mode mode;
  align::FreeEnds free_ends;
};

// "nw", "sg_qx", "local" ...: Parasail's names (q = query, d = target; b, e, x = begin, end, both)
// and the words for three of them.
std::vector<std::string> mode_names();
std::optional<ModeName> find_mode(std::string_view name);

}  // namespace biogpu::app
