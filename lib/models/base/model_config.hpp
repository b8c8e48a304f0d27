#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace biogpu::models {

// The config.json of a Hugging Face folder, read key by key. Every error is Error{bad_input} that
// names the file and the key.
class ModelConfig {
 public:
  explicit ModelConfig(const std::string& folder);

  const std::string& path() const { return path_; }
  bool has(const char* key) const { return json_.contains(key) && !json_[key].is_null(); }
  // The number of a key that must be there, from 1 to at_most.
  std::int64_t count(const char* key, std::int64_t at_most = std::int64_t{1} << 24) const;
  std::int64_t count_or(const char* key, std::int64_t otherwise,
                        std::int64_t at_most = std::int64_t{1} << 24) const;
  // A whole number of either sign, within 2^53.
  std::int64_t integer_or(const char* key, std::int64_t otherwise) const;
  // An object of names and counts, by name; the key must be there.
  std::vector<std::pair<std::string, std::int64_t>> named_counts(const char* key,
                                                                 std::int64_t at_most) const;
  // A list of as many counts as `otherwise` has.
  std::vector<std::int64_t> counts_or(const char* key, std::vector<std::int64_t> otherwise,
                                      std::int64_t at_most) const;
  double number_or(const char* key, double otherwise) const;
  bool flag_or(const char* key, bool otherwise) const;
  std::string text_or(const char* key, const std::string& otherwise) const;
  // The list of a key that must be there.
  std::vector<double> numbers(const char* key) const;
  std::vector<std::string> texts(const char* key) const;
  // A list of n_rows lists of n_columns numbers, row by row; the key must be there.
  std::vector<double> matrix(const char* key, std::size_t n_rows, std::size_t n_columns) const;
  // A list of objects, or one object, each with errors that name its number in the list.
  std::vector<ModelConfig> objects(const char* key) const;
  // Names with their arguments: a name, an object of names with an object or null each, in the
  // file's order, or a list of these. None where the key is not there.
  std::vector<std::pair<std::string, ModelConfig>> named_objects(const char* key) const;
  std::vector<std::string> keys() const;
  // Throws where a key that is there has another value: what the model's code cannot do.
  void require(const char* key, const std::string& value) const;
  void require(const char* key, bool value) const;
  [[noreturn]] void fail(const std::string& what) const;

 private:
  using Json = nlohmann::ordered_json;
  ModelConfig(std::string path, Json json) : path_(std::move(path)), json_(std::move(json)) {}

  std::string path_;
  Json json_;
};

}  // namespace biogpu::models
