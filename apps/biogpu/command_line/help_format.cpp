#include "apps/biogpu/command_line/help_format.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace biogpu::app {
namespace {

constexpr std::size_t kWidth = 100;

// Breaks lines at blanks where they would be longer than `width`; a longer word stays whole.
std::string wrapped(std::string_view text, std::size_t width) {
  std::string lines;
  std::size_t column = 0;
  while (!text.empty()) {
    const std::size_t end = text.find_first_of(" \n"), n = std::min(end, text.size());
    if (column > 0 && column + 1 + n > width) {
      lines += '\n';
      column = 0;
    } else if (column > 0) {
      lines += ' ';
      ++column;
    }
    lines += text.substr(0, n);
    column += n;
    if (end < text.size() && text[end] == '\n') {
      lines += '\n';
      column = 0;
    }
    text.remove_prefix(std::min(text.size(), n + 1));
  }
  return lines;
}

}  // namespace

std::string HelpFormatter::make_group(std::string group, bool is_positional,
                                      std::vector<const CLI::Option*> options) const {
  std::stable_partition(options.begin(), options.end(),
                        [](const CLI::Option* option) { return option->get_required(); });
  return Formatter::make_group(std::move(group), is_positional, std::move(options));
}

std::string positional_name(const CLI::Option& option) {
  const bool is_one_or_two = option.get_expected_min() == 1 && option.get_expected_max() == 2;
  return is_one_or_two ? option.get_option_text() : option.get_name();
}

std::string HelpFormatter::make_option_usage(const CLI::Option* option) const {
  const std::string name = positional_name(*option);
  return name == option->get_name() ? Formatter::make_option_usage(option) : name;
}

std::string HelpFormatter::make_option_name(const CLI::Option* option, bool is_positional) const {
  std::string name = Formatter::make_option_name(option, is_positional);
  // CLI11 marks names that turn a flag off.
  constexpr std::string_view kOff = "{false}";
  for (std::size_t at; (at = name.find(kOff)) != std::string::npos;) name.erase(at, kOff.size());
  return name;
}

std::string HelpFormatter::make_option_desc(const CLI::Option* option) const {
  std::string text = option->get_description();
  if (option->get_required() && !option->get_positional()) text += " (required)";
  return wrapped(text, kWidth - kColumn);
}

}  // namespace biogpu::app
