#pragma once

#include <string_view>

namespace biogpu::qc {

// Whether `longer`, without one base behind its first, agrees with the first n bases of `shorter`
// in all but `allowed`. longer has n + 1 bases or more.
bool matches_without_one(std::string_view longer, std::string_view shorter, int n, int allowed);

}  // namespace biogpu::qc
