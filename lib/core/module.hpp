#pragma once

#include <filesystem>
#include <string>

namespace biogpu {

// Where a shared library of biogpu is that programs open when they need it, or an empty path.
std::filesystem::path find_module(const char* file);

// Opens such a library, which stays open until the process ends, and returns the address of one of
// its functions; or nullptr with *why set to one line.
void* open_module(const std::filesystem::path& path, const char* function, std::string* why);

}  // namespace biogpu
