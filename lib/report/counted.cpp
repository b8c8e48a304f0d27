#include "lib/report/counted.hpp"

#include <fmt/format.h>

namespace biogpu::report {

std::string counted(std::uint64_t n, std::string_view plural) {
  std::string word(plural);
  if (n == 1 && plural.ends_with("ies")) {
    word.replace(word.size() - 3, 3, "y");
  } else if (n == 1) {
    const bool has_e = plural.ends_with("xes") || plural.ends_with("ches");
    word.resize(word.size() - (has_e ? 2 : 1));
  }
  return fmt::format("{} {}", n, word);
}

}  // namespace biogpu::report
