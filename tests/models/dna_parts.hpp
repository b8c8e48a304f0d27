#pragma once

// What tests of DNA models share.

#include <cctype>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "lib/models/base/pass.hpp"
#include "tests/models/enformer/vectors.hpp"

namespace biogpu::test {

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The windows of a folder's vectors: "one" and "two".
inline std::vector<std::vector<std::uint8_t>> read_windows(const std::string& folder) {
  std::ifstream file(model_data(folder + "/windows.fa"));
  std::vector<std::vector<std::uint8_t>> windows;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '>') continue;
    std::vector<std::uint8_t> codes;
    for (const char letter : line) {
      const auto at = std::string("ACGT").find(static_cast<char>(std::toupper(letter)));
      codes.push_back(at == std::string::npos ? 4 : static_cast<std::uint8_t>(at));
    }
    windows.push_back(std::move(codes));
  }
  REQUIRE(windows.size() == 2);
  return windows;
}

// The part of window i of n in an output.
inline std::vector<float> of_window(const models::Outputs& outputs, const std::string& name,
                                    std::size_t i, std::size_t n) {
  const auto& values = outputs.at(name).values;
  const std::size_t size = values.size() / n;
  return {values.begin() + i * size, values.begin() + (i + 1) * size};
}

// Numbers must differ over positions about as much as over channels, or errors of positions hide.
inline void check_part(const std::string& name, const std::vector<float>& got,
                       const std::vector<float>& right, std::size_t n_columns, double bound) {
  INFO(name);
  double squares = 0;
  for (const double spread : column_spreads(right, n_columns)) squares += spread * spread;
  const double whole = column_spreads(right, 1)[0];
  CHECK(std::sqrt(squares / static_cast<double>(n_columns)) > 0.4 * whole);
  CHECK(position_difference(got, right, n_columns) < bound);
}

// Of every step-th number from the first on, less their means: 1 where both rise and fall alike.
inline double cosine(const models::Outputs::Array& a, const models::Outputs::Array& b,
                     std::size_t first, std::size_t step) {
  double mean_a = 0, mean_b = 0, ab = 0, aa = 0, bb = 0;
  const auto n = static_cast<double>(a.values.size() / step);
  for (std::size_t i = first; i < a.values.size(); i += step) {
    mean_a += static_cast<double>(a.values[i]) / n;
    mean_b += static_cast<double>(b.values[i]) / n;
  }
  for (std::size_t i = first; i < a.values.size(); i += step) {
    const double x = static_cast<double>(a.values[i]) - mean_a;
    const double y = static_cast<double>(b.values[i]) - mean_b;
    ab += x * y;
    aa += x * x;
    bb += y * y;
  }
  return ab / std::sqrt(aa * bb);
}

}  // namespace biogpu::test
