#include "lib/qc/run/summary.hpp"

#include <algorithm>

namespace biogpu::qc {

int Summary::insert_size_peak() const {
  const auto first = counts.insert_sizes.begin();
  return static_cast<int>(std::max_element(first, first + kMaxInsertSize) - first);
}

bool is_overrepresented(const std::string& sequence, std::uint64_t count, int sampling) {
  const std::uint64_t n = count * static_cast<std::uint64_t>(sampling);
  switch (sequence.size()) {
    case 10:
      return n > 500;
    case 20:
      return n > 200;
    case 40:
      return n > 100;
    case 100:
      return n > 50;
    default:
      return n > 20;
  }
}

}  // namespace biogpu::qc
