#pragma once

#include <string>

namespace biogpu::io::output {

// An entry in the list of temporary files that a signal handler removes.
struct TempName;

// Throws std::bad_alloc where there is no memory for it.
TempName* register_temp(const std::string& path);
// Not used any more after this; null is allowed.
void unregister_temp(TempName* name) noexcept;
// Async-signal-safe.
void remove_registered_files() noexcept;

}  // namespace biogpu::io::output
