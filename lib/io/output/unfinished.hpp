#pragma once

#include <string>

namespace biogpu::io::output {

// The table of temporary files that remove_unfinished_outputs() removes. Returns the slot taken, or
// -1 when the table is full.
int register_unfinished(const std::string& path);
void forget_unfinished(int slot) noexcept;

}  // namespace biogpu::io::output
