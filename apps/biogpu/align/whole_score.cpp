#include "apps/biogpu/align/whole_score.hpp"

#include <string>

#include "apps/biogpu/command_line/value_checks.hpp"
#include "lib/align/whole_scores.hpp"

namespace biogpu::app {

CLI::Validator whole_score(std::int64_t least, std::int64_t most) {
  const CLI::Validator in_bounds = in_range(least, most);
  const auto convert = [in_bounds](std::string& text) -> std::string {
    const std::string message = in_bounds(text);
    return message.empty() ? message : message + align::how_to_scale(text);
  };
  return {convert, ""};
}

}  // namespace biogpu::app
