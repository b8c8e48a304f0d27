#include "lib/qc/output/part_name.hpp"

#include <fmt/format.h>

namespace biogpu::qc {

std::string part_name(const std::string& path, std::size_t n, int digits) {
  const std::size_t slash = path.rfind('/');
  const std::size_t base = slash == std::string::npos ? 0 : slash + 1;
  return fmt::format("{}{:0{}}.{}", path.substr(0, base), n + 1, digits, path.substr(base));
}

}  // namespace biogpu::qc
