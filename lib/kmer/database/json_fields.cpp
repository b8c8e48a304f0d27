#include "lib/kmer/database/json_fields.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lib/core/quote.hpp"
#include "lib/kmer/database/throw_bad_input.hpp"

namespace biogpu::kmer {
namespace {

using Json = nlohmann::json;

bool is_number(const Json& value, std::uint64_t min, std::uint64_t max) {
  return value.is_number_unsigned() && value.get<std::uint64_t>() >= min &&
         value.get<std::uint64_t>() <= max;
}

std::string range_text(std::uint64_t min, std::uint64_t max) {
  return fmt::format("a whole number from {} to {}", min, max);
}

}  // namespace

JsonFields::JsonFields(const Json& object, const std::string& label)
    : object_(object), label_(label) {
  if (!object.is_object()) kmer::throw_bad_input(label, "the header is not a JSON object");
}

const Json& JsonFields::value(const char* key) const {
  const auto found = object_.find(key);
  if (found == object_.end())
    kmer::throw_bad_input(label_, fmt::format("the header has no {}", key));
  return *found;
}

void JsonFields::throw_bad_input(const char* key, const std::string& expected) const {
  const std::string found = value(key).dump(-1, ' ', false, Json::error_handler_t::replace);
  kmer::throw_bad_input(
      label_, fmt::format("the header's {} is {}; expected {}", key, shortened(found), expected));
}

std::uint64_t JsonFields::number(const char* key, std::uint64_t min, std::uint64_t max) const {
  const Json& found = value(key);
  if (!is_number(found, min, max)) throw_bad_input(key, range_text(min, max));
  return found.get<std::uint64_t>();
}

std::uint64_t JsonFields::number_or(const char* key, std::uint64_t otherwise, std::uint64_t min,
                                    std::uint64_t max) const {
  return has(key) ? number(key, min, max) : otherwise;
}

std::vector<std::uint64_t> JsonFields::numbers(const char* key, std::size_t n,
                                               std::uint64_t max) const {
  const Json& found = array(key);
  const bool good =
      found.size() == n &&
      std::all_of(found.begin(), found.end(), [&](const Json& v) { return is_number(v, 0, max); });
  if (!good) throw_bad_input(key, fmt::format("{} numbers, each {}", n, range_text(0, max)));
  return found.get<std::vector<std::uint64_t>>();
}

bool JsonFields::flag(const char* key) const {
  if (!has(key)) return false;
  if (!value(key).is_boolean()) throw_bad_input(key, "true or false");
  return value(key).get<bool>();
}

std::string JsonFields::text(const char* key) const {
  if (!has(key)) return {};
  if (!value(key).is_string()) throw_bad_input(key, "a text");
  return value(key).get<std::string>();
}

std::vector<std::string> JsonFields::texts(const char* key) const {
  if (!has(key)) return {};
  const Json& found = array(key);
  if (!std::all_of(found.begin(), found.end(), [](const Json& v) { return v.is_string(); }))
    throw_bad_input(key, "a list of texts");
  return found.get<std::vector<std::string>>();
}

JsonFields JsonFields::fields(const char* key) const {
  if (!value(key).is_object()) throw_bad_input(key, "an object");
  return {value(key), label_};
}

const Json& JsonFields::array(const char* key) const {
  if (!value(key).is_array()) throw_bad_input(key, "a list");
  return value(key);
}

void read_provenance(const JsonFields& fields, Header& header) {
  header.command = fields.texts("cmdline");
  header.program = fields.text("exe_path");
  header.host = fields.text("hostname");
  header.folder = fields.text("pwd");
  header.time = fields.text("time");
}

}  // namespace biogpu::kmer
