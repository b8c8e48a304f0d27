#pragma once

// Catch2 2 (Debian 12) and 3 (Ubuntu 24.04) under one include. Tests use what both have; of what
// version 3 moved into its namespace, the names below.
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
using Catch::Matchers::ContainsSubstring;
#else
#include <catch2/catch.hpp>

#include <string>

inline auto ContainsSubstring(const std::string& text) { return Catch::Matchers::Contains(text); }
#endif
