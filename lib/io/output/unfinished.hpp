#pragma once

#include <string>

namespace biogpu::io::output {

// An entry in the list of temporary files that remove_unfinished_outputs() removes.
struct UnfinishedName;

// Throws std::bad_alloc where there is no memory for it.
UnfinishedName* register_unfinished(const std::string& path);
// Not used any more after this; null is allowed.
void forget_unfinished(UnfinishedName* name) noexcept;

}  // namespace biogpu::io::output
