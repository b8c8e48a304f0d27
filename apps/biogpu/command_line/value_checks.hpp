#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "lib/io/output/suffix.hpp"

namespace biogpu::app {

// Checks of an option's value. Their messages name what was found and what was expected, as
// "'0'; expected a whole number from 1 to 8"; the option's name is put before it. All are for
// Option::transform(), for they write the value as CLI11 reads it.

// Numbers in decimal digits, so that 010 is ten; a plus may stand in front.
CLI::Validator whole_number_in(std::int64_t least, std::uint64_t most);
CLI::Validator number_in(double least, double most);

template <class T>
CLI::Validator in_range(T least, T most) {
  if constexpr (std::is_floating_point_v<T>)
    return number_in(least, most);
  else
    return whole_number_in(static_cast<std::int64_t>(least), static_cast<std::uint64_t>(most));
}

// Replaces "64k" or "2G" by its number; unit is 1000 for counts and 1024 for bytes. CLI11's own
// converter reads -5 as a huge number.
CLI::Validator size_suffix(std::uint64_t unit);

// What the name of a check of words begins with; the words follow, with a bar between them, so that
// completions can offer them.
inline constexpr char kChoices[] = "choices:";

// One of some words; in_any_case: upper and lower case are the same.
CLI::Validator one_of(std::vector<std::string> words, bool in_any_case = false);

// The same for an enum, whose value the word is replaced by.
CLI::Validator one_of_numbers(std::vector<std::pair<std::string, int>> words,
                              bool in_any_case = false);

template <class T>
CLI::Validator one_of(const std::map<std::string, T>& words, bool in_any_case = false) {
  std::vector<std::pair<std::string, int>> numbers;
  numbers.reserve(words.size());
  for (const auto& [word, value] : words) numbers.emplace_back(word, static_cast<int>(value));
  return one_of_numbers(std::move(numbers), in_any_case);
}

// The name of an output: its suffix is one of these formats, or none.
CLI::Validator output_name(std::vector<std::string> formats,
                           io::OtherSuffixes others = io::OtherSuffixes::refuse);

// The name of a text: as with the original tools any suffix but that of another format.
CLI::Validator text_name(const std::vector<std::string>& formats = {});

// What is said of an empty value where anything else is taken.
std::string describe_empty_value();

// "a", "a or b", "a, b or c".
std::string any_of(const std::vector<std::string>& words);

}  // namespace biogpu::app
