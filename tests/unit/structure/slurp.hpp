#pragma once

#include <fstream>
#include <iterator>
#include <string>

namespace biogpu::test {

// All bytes of a file.
inline std::string slurp(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace biogpu::test
