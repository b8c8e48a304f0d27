#include "lib/infer/model_config.hpp"

#include <fmt/format.h>

#include <fstream>

#include "lib/core/error.hpp"

namespace biogpu::infer {
namespace {
constexpr std::int64_t kMaxCount = 1 << 24;
}

ModelConfig::ModelConfig(const std::string& folder) : path_(folder + "/config.json") {
  std::ifstream file(path_);
  if (!file)
    throw Error(ErrorCode::failed,
                path_ + ": cannot be read; --model wants a folder with config.json and weights");
  try {
    json_ = nlohmann::json::parse(file);
  } catch (const nlohmann::json::exception&) {
    fail("is no JSON");
  }
  if (!json_.is_object()) fail("is no JSON object");
}

void ModelConfig::fail(const std::string& what) const {
  throw Error(ErrorCode::bad_input, path_ + ": " + what);
}

std::int64_t ModelConfig::count(const char* key) const {
  if (!has(key)) fail(fmt::format("has no {}", key));
  const auto& value = json_[key];
  if (!value.is_number_integer() || value.get<std::int64_t>() < 1 ||
      value.get<std::int64_t>() > kMaxCount)
    fail(fmt::format("{} is {}; expected a number from 1 to {}", key, value.dump(), kMaxCount));
  return value.get<std::int64_t>();
}

std::int64_t ModelConfig::count_or(const char* key, std::int64_t otherwise) const {
  return has(key) ? count(key) : otherwise;
}

double ModelConfig::number_or(const char* key, double otherwise) const {
  if (!has(key)) return otherwise;
  if (!json_[key].is_number())
    fail(fmt::format("{} is {}; expected a number", key, json_[key].dump()));
  return json_[key].get<double>();
}

bool ModelConfig::flag_or(const char* key, bool otherwise) const {
  if (!has(key)) return otherwise;
  if (!json_[key].is_boolean())
    fail(fmt::format("{} is {}; expected true or false", key, json_[key].dump()));
  return json_[key].get<bool>();
}

std::string ModelConfig::text_or(const char* key, const std::string& otherwise) const {
  if (!has(key)) return otherwise;
  if (!json_[key].is_string())
    fail(fmt::format("{} is {}; expected a text", key, json_[key].dump()));
  return json_[key].get<std::string>();
}

void ModelConfig::require(const char* key, const std::string& value) const {
  if (has(key) && text_or(key, value) != value)
    fail(fmt::format("{} is '{}'; only '{}' is supported", key, text_or(key, value), value));
}

void ModelConfig::require(const char* key, bool value) const {
  if (flag_or(key, value) != value)
    fail(fmt::format("{} is {}; only {} is supported", key, !value, value));
}

}  // namespace biogpu::infer
