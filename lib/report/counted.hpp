#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace biogpu::report {

// A number and what it counts, given in the plural: counted(1, "queries") is "1 query",
// counted(2, "queries") "2 queries".
std::string counted(std::uint64_t n, std::string_view plural);

}  // namespace biogpu::report
