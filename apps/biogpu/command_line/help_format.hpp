#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace biogpu::app {

// What help and manual call a positional argument: its name, or, where it is one word or two, the
// text that names both.
std::string positional_name(const CLI::Option& option);

// Help of at most 100 columns: descriptions are wrapped, required options come first and say so.
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() { column_width(kColumn); }

  std::string make_group(std::string group, bool is_positional,
                         std::vector<const CLI::Option*> options) const override;
  std::string make_option_name(const CLI::Option* option, bool is_positional) const override;
  std::string make_option_desc(const CLI::Option* option) const override;
  // In the line of usage.
  std::string make_option_usage(const CLI::Option* option) const override;

 private:
  static constexpr std::size_t kColumn = 32;
};

}  // namespace biogpu::app
