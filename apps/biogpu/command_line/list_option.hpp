#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

namespace biogpu::app {

// Lists follow one rule in all commands: items with one comma between, in one value or in several
// of an option that is given again. An empty item is an error of usage, and so is one that is there
// already: it would be computed or counted twice, or shadow the first.

// The items of a list. Throws Error{usage} where one is empty or comes twice. option: as "--head".
std::vector<std::string> split_list(const std::string& option, std::string_view text);

// What is said of an item that was there before.
std::string describe_repeat(std::string_view item);

// An option whose value is a list.
struct ListOption {
  std::string names;          // as CLI11 takes them: "-n,--samples"
  std::string description;    // of the help
  std::string type;           // shown for the value: "NAME,..."
  CLI::Validator check = {};  // of each item, one of value_checks.hpp; items are compared after it
  char separator = ',';       // '\0': a value is one item, and the option is given again for more
};

// The items of an option's values, checked. Throws CLI::ValidationError.
std::vector<std::string> read_items(const ListOption& list, const std::vector<std::string>& values);

[[noreturn]] void refuse_list(const ListOption& list, const std::string& message);

// Declares it; items replaces what `values` has.
template <class T>
CLI::Option* add_list(CLI::App& command, const ListOption& list, std::vector<T>& values) {
  const CLI::callback_t take = [list, &values](const CLI::results_t& given) {
    values.clear();
    for (const std::string& item : read_items(list, given)) {
      T value{};
      if (!CLI::detail::lexical_cast(item, value)) return false;
      if (std::find(values.begin(), values.end(), value) != values.end())
        refuse_list(list, describe_repeat(item));
      values.push_back(value);
    }
    return true;
  };
  return command.add_option(list.names, take, list.description)
      ->type_name(CLI::detail::type_name<T>())
      ->expected(CLI::detail::expected_max_vector_size)
      ->allow_extra_args(false)
      ->option_text(list.type);
}

}  // namespace biogpu::app
