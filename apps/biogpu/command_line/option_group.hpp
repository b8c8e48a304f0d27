#pragma once

#include <string>
#include <utility>

#include <CLI/CLI.hpp>

namespace biogpu::app {

// Declares options under one heading of a command's help; without a heading, under CLI11's own.
class OptionGroup {
 public:
  explicit OptionGroup(CLI::App& command, std::string heading = {})
      : command_(command), heading_(std::move(heading)) {}

  // type: what the help shows for the value.
  template <class T>
  CLI::Option* option(const std::string& names, T& value, const std::string& text,
                      const char* type) const {
    return under_heading(command_.add_option(names, value, text), type);
  }

  // bool, or an optional one that stays empty where the flag is not given.
  template <class T>
  CLI::Option* flag(const std::string& names, T& value, const std::string& text) const {
    // CLI11 2.1 sets what a number can be made of to 0.
    const T not_given = value;
    CLI::Option* const option = command_.add_flag(names, value, text);
    value = not_given;
    return under_heading(option, " ");
  }

 private:
  CLI::Option* under_heading(CLI::Option* option, const char* type) const {
    option->option_text(type);
    return heading_.empty() ? option : option->group(heading_);
  }

  CLI::App& command_;
  const std::string heading_;
};

}  // namespace biogpu::app
