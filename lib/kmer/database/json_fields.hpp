#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lib/kmer/database/header.hpp"

namespace biogpu::kmer {

// The values of a file's JSON object, each checked before it is used: one that is missing, of
// another type or out of range is refused as Error{bad_input} that begins with label and names the
// key. Both arguments outlive this.
class JsonFields {
 public:
  JsonFields(const nlohmann::json& object, const std::string& label);

  bool has(const char* key) const { return object_.contains(key); }
  std::uint64_t number(const char* key, std::uint64_t min, std::uint64_t max) const;
  std::uint64_t number_or(const char* key, std::uint64_t otherwise, std::uint64_t min,
                          std::uint64_t max) const;
  // n numbers up to max.
  std::vector<std::uint64_t> numbers(const char* key, std::size_t n, std::uint64_t max) const;
  bool flag(const char* key) const;                       // false where it is missing
  std::string text(const char* key) const;                // empty where it is missing
  std::vector<std::string> texts(const char* key) const;  // the same
  JsonFields fields(const char* key) const;
  const nlohmann::json& array(const char* key) const;

  // key: its value, where that has to be something else.
  [[noreturn]] void throw_bad_input(const char* key, const std::string& expected) const;

 private:
  const nlohmann::json& value(const char* key) const;

  const nlohmann::json& object_;
  const std::string& label_;
};

// Who made a database, where and when, under the keys that Jellyfish's headers have.
void read_provenance(const JsonFields& fields, Header& header);

}  // namespace biogpu::kmer
