#include "lib/lab/baseline.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "lib/core/bounded_json.hpp"
#include "lib/core/error.hpp"
#include "lib/io/mapped_file.hpp"

namespace biogpu::lab {
namespace {

using Json = nlohmann::json;

[[noreturn]] void refuse(const std::string& path, const std::string& what) {
  throw Error(ErrorCode::bad_input, path + ": " + what);
}

std::string text_of(const Json& object, const char* key, const std::string& path) {
  if (!object.contains(key) || !object[key].is_string())
    refuse(path,
           fmt::format("has no text '{}'; expected what 'biogpu lab run --json' writes", key));
  return object[key].get<std::string>();
}

}  // namespace

Baseline::Baseline(const std::string& path) {
  const io::MappedFile file(path);
  const Json json = parse_bounded_json(file.bytes(), path);
  if (!json.is_object() || !json.contains("blocks") || !json["blocks"].is_array())
    refuse(path, "has no list 'blocks'; expected what 'biogpu lab run --json' writes");
  device_ = text_of(json, "device", path);
  precision_ = text_of(json, "precision", path);
  for (const Json& row : json["blocks"]) {
    if (!row.is_object() || !row.contains("n") || !row["n"].is_number_integer() ||
        !row.contains("c") || !row["c"].is_number_integer() || !row.contains("median_s") ||
        !row["median_s"].is_number())
      refuse(path, "a block has no numbers 'n', 'c' and 'median_s'");
    const double seconds = row["median_s"].get<double>();
    if (!(seconds > 0)) refuse(path, "a 'median_s' is not above 0");
    seconds_[{text_of(row, "block", path), row["n"].get<std::int64_t>(),
              row["c"].get<std::int64_t>()}] = seconds;
  }
}

double Baseline::seconds(const BlockResult& result) const {
  const auto found = seconds_.find({result.block, result.extents.n, result.extents.c});
  return found == seconds_.end() ? 0 : found->second;
}

}  // namespace biogpu::lab
