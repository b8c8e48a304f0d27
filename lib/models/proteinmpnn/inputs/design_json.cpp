#include "lib/models/proteinmpnn/inputs/design_json.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <string_view>

#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"

namespace biogpu::models::proteinmpnn {

void throw_bad_entry(const std::string& file, const std::string& where, const std::string& what) {
  throw Error(ErrorCode::bad_input, fmt::format("{}: {}: {}", file, where, what));
}

const Json& entry(const std::string& file, const Json& json, const std::string& name) {
  const auto found = json.find(name);
  if (found == json.end())
    throw_bad_entry(file, name, "has no entry; names are those of structure files");
  return *found;
}

std::vector<std::int64_t> positions_of(const Json& list) {
  for (const Json& position : list)
    if (!position.is_number_integer())
      throw Json::type_error::create(302, "a position is no whole number", &position);
  return list.get<std::vector<std::int64_t>>();
}

std::size_t residue_at(const std::string& file, const Complex& complex, std::size_t chain,
                       std::int64_t position) {
  const std::int64_t n = complex.begin[chain + 1] - complex.begin[chain];
  if (position < 1 || position > n)
    throw_bad_entry(file, complex.name,
                    fmt::format("position {} is outside chain {}, which has {} residues", position,
                                complex.chains[chain], n));
  return static_cast<std::size_t>(complex.begin[chain] + position - 1);
}

std::size_t letter_at(const std::string& file, const std::string& name, char letter) {
  const int index = letter_index(letter);
  if (index < 0)
    throw_bad_entry(file, name,
                    fmt::format("{} is no letter of {}",
                                biogpu::quoted(std::string_view(&letter, 1)), kLetters));
  return static_cast<std::size_t>(index);
}

double number_of(const Json& value) {
  if (!value.is_number() || !(std::abs(value.get<double>()) <= FLT_MAX))
    throw Json::type_error::create(302, "not a number of fp32", &value);
  return value.get<double>();
}

float float_of(const Json& value) { return static_cast<float>(number_of(value)); }

LetterTable table_of(const Json& rows, std::size_t n) {
  if (!rows.is_array() || rows.size() != n)
    throw Json::type_error::create(302, "not as many rows as residues", &rows);
  LetterTable table(n);
  for (std::size_t i = 0; i < n; ++i) {
    if (!rows[i].is_array() || rows[i].size() != kLetterRow)
      throw Json::type_error::create(302, "not a number for each letter", &rows);
    std::transform(rows[i].begin(), rows[i].end(), table[i].begin(), float_of);
  }
  return table;
}

}  // namespace biogpu::models::proteinmpnn
