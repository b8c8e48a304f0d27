#include "lib/tensor/tuning/tuning_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <system_error>

#include "lib/core/bounded_json.hpp"
#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"
#include "lib/core/rate_cache.hpp"
#include "lib/core/version.hpp"
#include "lib/io/mapped_file.hpp"

namespace biogpu::tensor {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kKind[] = "biogpu tuning 1";
constexpr const char* kExtents[] = {"m", "n", "k", "products"};
constexpr const char* kTypes[] = {"fp32", "fp16", "bf16"};

[[noreturn]] void refuse(const std::string& path, const std::string& what) {
  throw Error(
      ErrorCode::bad_input,
      fmt::format("{}: {}; remove the file: 'biogpu lab run --sweep' makes a new one", path, what));
}

const Json& member(const Json& object, const char* key, const std::string& path) {
  if (!object.is_object() || !object.contains(key))
    refuse(path, fmt::format("tuning data without '{}'", key));
  return object[key];
}

std::string text_of(const Json& object, const char* key, const std::string& path) {
  const Json& value = member(object, key, path);
  if (!value.is_string()) refuse(path, fmt::format("'{}' of tuning data is no text", key));
  return value.get<std::string>();
}

std::int64_t count_of(const Json& object, const char* key, const std::string& path) {
  const Json& value = member(object, key, path);
  if (!value.is_number_integer() || value.get<double>() < 1 || value.get<double>() > 1e15)
    refuse(path, fmt::format("'{}' of tuning data is no number above 0", key));
  return value.get<std::int64_t>();
}

const Json& list_of(const Json& object, const char* key, const std::string& path) {
  const Json& value = member(object, key, path);
  if (!value.is_array()) refuse(path, fmt::format("'{}' of tuning data is no list", key));
  return value;
}

TunedTile read_tile(const Json& row, const std::string& path) {
  TunedTile tile;
  tile.product.operation = text_of(row, "operation", path);
  tile.product.type = text_of(row, "type", path);
  for (std::size_t i = 0; i < std::size(kExtents); ++i)
    tile.product.shape[i] = count_of(row, kExtents[i], path);
  const std::int64_t columns = count_of(row, "columns", path);
  const TiledOperation* const operation = find_tiled_operation(tile.product.operation);
  if (operation == nullptr)
    refuse(path, fmt::format("no operation {} has tiles", quoted(tile.product.operation)));
  if (std::find(std::begin(kTypes), std::end(kTypes), tile.product.type) == std::end(kTypes))
    refuse(path, fmt::format("no operands of type {}", quoted(tile.product.type)));
  if (columns != operation->columns[0] && columns != operation->columns[1])
    refuse(path, fmt::format("{} has no tile of {} columns; expected {} or {}", operation->name,
                             columns, operation->columns[0], operation->columns[1]));
  tile.columns = static_cast<int>(columns);
  const Json& speedup = member(row, "speedup", path);
  if (!speedup.is_number()) refuse(path, "'speedup' of tuning data is no number");
  tile.speedup = speedup.get<double>();
  return tile;
}

}  // namespace

std::string tuning_path() {
  const char* const chosen = std::getenv("BIOGPU_TUNING");
  if (chosen != nullptr && *chosen != '\0') return chosen;
  const std::filesystem::path folder = cost::cache_folder();
  return folder.empty() ? "" : (folder / "tuning.json").string();
}

std::vector<DeviceTuning> read_tuning(const std::string& path) {
  std::error_code error;
  if (path.empty() || !std::filesystem::exists(path, error)) return {};
  const io::MappedFile file(path);
  const auto json = parse_bounded_json<Json>(file.bytes(), path);
  if (!json.is_object() || !json.contains("kind") || json["kind"] != kKind)
    refuse(path, fmt::format("no tuning data of this program: 'kind' is not '{}'", kKind));
  std::vector<DeviceTuning> tuning;
  for (const Json& entry : list_of(json, "devices", path)) {
    DeviceTuning& of = tuning.emplace_back();
    of.device = text_of(entry, "device", path);
    of.version = text_of(entry, "version", path);
    for (const Json& row : list_of(entry, "tiles", path)) of.tiles.push_back(read_tile(row, path));
  }
  return tuning;
}

std::string format_tuning(const std::vector<DeviceTuning>& tuning) {
  Json devices = Json::array();
  for (const DeviceTuning& of : tuning) {
    Json rows = Json::array();
    for (const TunedTile& tile : of.tiles) {
      Json row{{"operation", tile.product.operation}, {"type", tile.product.type}};
      for (std::size_t i = 0; i < std::size(kExtents); ++i)
        row[kExtents[i]] = tile.product.shape[i];
      row["columns"] = tile.columns;
      row["speedup"] = tile.speedup;
      rows.push_back(row);
    }
    devices.push_back({{"device", of.device}, {"version", of.version}, {"tiles", rows}});
  }
  return Json{{"kind", kKind}, {"devices", devices}}.dump(2, ' ', false,
                                                          Json::error_handler_t::replace) +
         "\n";
}

DeviceTuning& tuning_of(std::vector<DeviceTuning>& tuning, const std::string& device) {
  for (DeviceTuning& of : tuning)
    if (of.device == device && of.version == kVersion) return of;
  return tuning.emplace_back(DeviceTuning{device, kVersion, {}});
}

void fill_tiles(TileTable& table, const std::vector<DeviceTuning>& tuning,
                const std::string& device) {
  for (const DeviceTuning& of : tuning)
    if (of.device == device && of.version == kVersion)
      for (const TunedTile& tile : of.tiles) table.choose(tile.product, tile.columns);
}

DeviceTiles device_tiles(Context& context) {
  DeviceTiles tiles;
  if (context.kind() != Context::Kind::gpu) return tiles;
  const DeviceTilesArgs args{&tiles};
  context.gpu_op("tensor.tiles")(context, &args);
  return tiles;
}

}  // namespace biogpu::tensor
