#pragma once

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lib/models/proteinmpnn/inputs/complex.hpp"
#include "lib/models/proteinmpnn/inputs/constraints.hpp"

namespace biogpu::models::proteinmpnn {

// Values of the JSON lines that describe a design. What is no such value throws Json::exception or
// Error{bad_input}; guard() makes one line of the former.
using Json = nlohmann::ordered_json;

// Error{bad_input}: "FILE: WHERE: WHAT".
[[noreturn]] void throw_bad_entry(const std::string& file, const std::string& where,
                                  const std::string& what);

// Turns any misuse of a value into one line with the file and the structure.
template <class Body>
void guard(const std::string& file, const std::string& name, const Body& body) {
  try {
    body();
  } catch (const Json::exception&) {
    throw_bad_entry(file, name, "does not have the form that the original's helper scripts write");
  }
}

// What a file has for a structure.
const Json& entry(const std::string& file, const Json& json, const std::string& name);

// Whole numbers alone, where a library would cut others.
std::vector<std::int64_t> positions_of(const Json& list);

// Residue of a position from 1 within a chain.
std::size_t residue_at(const std::string& file, const Complex& complex, std::size_t chain,
                       std::int64_t position);

// Place of a letter in kLetters.
std::size_t letter_at(const std::string& file, const std::string& name, char letter);

// In the range of fp32, in which sums of products with other numbers are finite.
double number_of(const Json& value);
float float_of(const Json& value);

// n rows of a number for each letter.
using LetterTable = std::vector<std::array<float, kLetterRow>>;
LetterTable table_of(const Json& rows, std::size_t n);

// The value of each designed chain of an entry, as body(chain, value).
template <class Body>
void for_chains(const std::string& file, const Json& of_structure, const Complex& complex,
                const Body& body) {
  for (std::size_t c = 0; c < complex.n_designed; ++c) {
    const auto found = of_structure.find(complex.chains[c]);
    if (found == of_structure.end())
      throw_bad_entry(file, complex.name,
                      fmt::format("has no entry for chain {}", complex.chains[c]));
    body(c, *found);
  }
}

}  // namespace biogpu::models::proteinmpnn
