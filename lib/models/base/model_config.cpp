#include "lib/models/base/model_config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "lib/core/bounded_json.hpp"
#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"
#include "lib/io/input/byte_order_mark.hpp"
#include "lib/tensor/weights/foreign_file.hpp"

namespace biogpu::models {
namespace {

constexpr std::size_t kMaxFileBytes = 1u << 20;

// As a message shows it.
std::string show_value(const nlohmann::ordered_json& value) {
  if (value.is_array()) return "a list";
  if (value.is_object()) return "an object";
  return shortened(value.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace));
}

// OWNER/NAME where neither is a folder here, such as "facebook/esm2_t6_8M_UR50D".
bool looks_like_name_on_hub(const std::string& folder) {
  const std::size_t slash = folder.find('/');
  if (slash == 0 || slash == std::string::npos || slash + 1 == folder.size()) return false;
  const auto is_of_name = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.';
  };
  std::string both = folder;
  both.erase(slash, 1);
  std::error_code error;
  return both.front() != '.' && std::all_of(both.begin(), both.end(), is_of_name) &&
         !std::filesystem::exists(folder.substr(0, slash), error);
}

}  // namespace

ModelConfig::ModelConfig(const std::string& folder) : path_(folder + "/config.json") {
  errno = 0;
  std::ifstream file(path_);
  if (!file && looks_like_name_on_hub(folder))
    throw Error(
        ErrorCode::failed,
        fmt::format("{0}: no folder of that name; of the Hugging Face hub? 'hf download {0} "
                    "--local-dir {1}', then --model {1}",
                    folder, folder.substr(folder.find('/') + 1)));
  if (!file)
    throw Error(ErrorCode::failed,
                fmt::format("{}: cannot be opened: {}; --model takes a folder with config.json and "
                            "weights; 'biogpu infer models' lists what is published",
                            path_, std::generic_category().message(errno)));
  std::string text(kMaxFileBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) throw Error(ErrorCode::failed, path_ + ": cannot be read");
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kMaxFileBytes)
    fail(fmt::format("has more than {} bytes; expected a model's description", kMaxFileBytes));
  if (!tensor::foreign_file(text).empty()) fail(std::string(tensor::foreign_file(text)));
  json_ = parse_bounded_json<Json>(io::input::without_mark(text, path_), path_);
  if (!json_.is_object()) fail("is no JSON object");
}

void ModelConfig::fail(const std::string& what) const {
  throw Error(ErrorCode::bad_input, path_ + ": " + what);
}

std::int64_t ModelConfig::count(const char* key, std::int64_t at_most) const {
  if (!has(key)) fail(fmt::format("has no {}", key));
  const auto& value = json_[key];
  if (!value.is_number_integer() || value.get<std::int64_t>() < 1 ||
      value.get<std::int64_t>() > at_most)
    fail(fmt::format("{} is {}; expected a number from 1 to {}", key, show_value(value), at_most));
  return value.get<std::int64_t>();
}

std::int64_t ModelConfig::count_or(const char* key, std::int64_t otherwise,
                                   std::int64_t at_most) const {
  return has(key) ? count(key, at_most) : otherwise;
}

std::int64_t ModelConfig::integer_or(const char* key, std::int64_t otherwise) const {
  constexpr std::int64_t kMax = std::int64_t{1} << 53;
  if (!has(key)) return otherwise;
  const auto& value = json_[key];
  const bool fits = value.is_number_integer() && value.get<std::int64_t>() >= -kMax &&
                    value.get<std::int64_t>() <= kMax;
  if (!fits) fail(fmt::format("{} is {}; expected a whole number", key, show_value(value)));
  return value.get<std::int64_t>();
}

std::vector<std::pair<std::string, std::int64_t>> ModelConfig::named_counts(
    const char* key, std::int64_t at_most) const {
  if (!has(key)) fail(fmt::format("has no {}", key));
  if (!json_[key].is_object())
    fail(fmt::format("{} is {}; expected an object of names and numbers", key,
                     show_value(json_[key])));
  std::vector<std::pair<std::string, std::int64_t>> counts;
  for (const auto& [name, value] : json_[key].items()) {
    if (!value.is_number_integer() || value.get<std::int64_t>() < 1 ||
        value.get<std::int64_t>() > at_most)
      fail(fmt::format("{} has {} for {}; expected a number from 1 to {}", key, show_value(value),
                       biogpu::quoted(name), at_most));
    counts.emplace_back(name, value.get<std::int64_t>());
  }
  std::sort(counts.begin(), counts.end());
  return counts;
}

std::vector<std::int64_t> ModelConfig::counts_or(const char* key,
                                                 std::vector<std::int64_t> otherwise,
                                                 std::int64_t at_most) const {
  if (!has(key)) return otherwise;
  const auto& list = json_[key];
  if (!list.is_array() || list.size() != otherwise.size())
    fail(fmt::format("{} is {}; expected a list of {} numbers", key, show_value(list),
                     otherwise.size()));
  for (std::size_t i = 0; i < otherwise.size(); ++i) {
    if (!list[i].is_number_integer() || list[i].get<std::int64_t>() < 1 ||
        list[i].get<std::int64_t>() > at_most)
      fail(fmt::format("{} has {}; expected numbers from 1 to {}", key, show_value(list[i]),
                       at_most));
    otherwise[i] = list[i].get<std::int64_t>();
  }
  return otherwise;
}

double ModelConfig::number_or(const char* key, double otherwise) const {
  if (!has(key)) return otherwise;
  if (!json_[key].is_number())
    fail(fmt::format("{} is {}; expected a number", key, show_value(json_[key])));
  return json_[key].get<double>();
}

bool ModelConfig::flag_or(const char* key, bool otherwise) const {
  if (!has(key)) return otherwise;
  if (!json_[key].is_boolean())
    fail(fmt::format("{} is {}; expected true or false", key, show_value(json_[key])));
  return json_[key].get<bool>();
}

std::string ModelConfig::text_or(const char* key, const std::string& otherwise) const {
  if (!has(key)) return otherwise;
  if (!json_[key].is_string())
    fail(fmt::format("{} is {}; expected a text", key, show_value(json_[key])));
  return json_[key].get<std::string>();
}

std::vector<double> ModelConfig::numbers(const char* key) const {
  if (!has(key)) fail(fmt::format("has no {}", key));
  if (!json_[key].is_array())
    fail(fmt::format("{} is {}; expected a list of numbers", key, show_value(json_[key])));
  std::vector<double> numbers;
  for (const auto& value : json_[key]) {
    if (!value.is_number())
      fail(fmt::format("{} holds {}; expected numbers", key, show_value(value)));
    numbers.push_back(value.get<double>());
  }
  return numbers;
}

std::vector<std::string> ModelConfig::texts(const char* key) const {
  if (!has(key)) fail(fmt::format("has no {}", key));
  if (!json_[key].is_array())
    fail(fmt::format("{} is {}; expected a list of texts", key, show_value(json_[key])));
  std::vector<std::string> texts;
  for (const auto& value : json_[key]) {
    if (!value.is_string())
      fail(fmt::format("{} holds {}; expected texts", key, show_value(value)));
    texts.push_back(value.get<std::string>());
  }
  return texts;
}

std::vector<double> ModelConfig::matrix(const char* key, std::size_t n_rows,
                                        std::size_t n_columns) const {
  if (!has(key)) fail(fmt::format("has no {}", key));
  std::vector<double> numbers;
  const Json& rows = json_[key];
  bool fits = rows.is_array() && rows.size() == n_rows;
  for (std::size_t i = 0; fits && i < n_rows; ++i) {
    fits = rows[i].is_array() && rows[i].size() == n_columns;
    for (std::size_t k = 0; fits && k < n_columns; ++k) {
      fits = rows[i][k].is_number();
      if (fits) numbers.push_back(rows[i][k].get<double>());
    }
  }
  if (!fits) fail(fmt::format("{} is no list of {} lists of {} numbers", key, n_rows, n_columns));
  return numbers;
}

std::vector<ModelConfig> ModelConfig::objects(const char* key) const {
  if (!has(key)) fail(fmt::format("has no {}", key));
  const Json& list = json_[key];
  if (list.is_object()) return {ModelConfig(fmt::format("{}: {}", path_, key), list)};
  if (!list.is_array())
    fail(fmt::format("{} is {}; expected a list of objects", key, show_value(list)));
  std::vector<ModelConfig> objects;
  for (const auto& value : list) {
    if (!value.is_object())
      fail(fmt::format("{} holds {}; expected objects", key, show_value(value)));
    objects.push_back({fmt::format("{}: {}[{}]", path_, key, objects.size()), value});
  }
  return objects;
}

std::vector<std::pair<std::string, ModelConfig>> ModelConfig::named_objects(const char* key) const {
  std::vector<std::pair<std::string, ModelConfig>> objects;
  const auto add = [&](const std::string& name, const Json& arguments) {
    if (!arguments.is_object() && !arguments.is_null())
      fail(fmt::format("{} has {} for {}; expected an object", key, show_value(arguments),
                       biogpu::quoted(name)));
    objects.emplace_back(name, ModelConfig(fmt::format("{}: {}[{}]", path_, key, objects.size()),
                                           arguments.is_null() ? Json::object() : arguments));
  };
  const auto add_all = [&](const Json& value) {
    if (value.is_string()) return add(value.get<std::string>(), Json::object());
    if (!value.is_object())
      fail(fmt::format("{} has {}; expected a name, or an object of a name and its arguments", key,
                       show_value(value)));
    for (const auto& [name, arguments] : value.items()) add(name, arguments);
  };
  if (!has(key)) return objects;
  const Json& value = json_[key];
  if (!value.is_array()) {
    add_all(value);
  } else {
    for (const Json& one : value) add_all(one);
  }
  return objects;
}

std::vector<std::string> ModelConfig::keys() const {
  std::vector<std::string> keys;
  for (const auto& item : json_.items()) keys.push_back(item.key());
  return keys;
}

void ModelConfig::require(const char* key, const std::string& value) const {
  if (has(key) && text_or(key, value) != value)
    fail(fmt::format("{} is {}; only '{}' is supported", key, biogpu::quoted(text_or(key, value)),
                     value));
}

void ModelConfig::require(const char* key, bool value) const {
  if (flag_or(key, value) != value)
    fail(fmt::format("{} is {}; only {} is supported", key, !value, value));
}

}  // namespace biogpu::models
