#pragma once

// Catch2 3 made of Catch2 2, as far as they differ in where names lie: what version 2 offers
// outside of its namespace is inside alone, and no matcher Contains takes a text. For
// scripts/dev/check_catch.sh, where only version 2 is installed.
#define Approx ApproxOfVersion2
#define Contains ContainsOfVersion2
#include <catch2/catch.hpp>
#undef Contains
#undef Approx

#include <string>

namespace Catch {
using Approx = Detail::ApproxOfVersion2;
namespace Matchers {
inline auto ContainsSubstring(const std::string& text) { return ContainsOfVersion2(text); }
}  // namespace Matchers
}  // namespace Catch
