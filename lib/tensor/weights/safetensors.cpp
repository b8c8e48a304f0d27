#include "lib/tensor/weights/safetensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <utility>

#include "lib/core/bounded_json.hpp"
#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"
#include "lib/io/input/byte_order_mark.hpp"
#include "lib/tensor/float16.hpp"
#include "lib/tensor/weights/foreign_file.hpp"

namespace biogpu::tensor {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t kMaxHeaderBytes = 100u << 20;  // the format's own bound
constexpr std::size_t kMaxStoredRank = 16;

struct StoredType {
  const char* name;
  std::uint64_t bytes;
};
constexpr StoredType kStoredTypes[] = {{"F64", 8},     {"F32", 4},     {"F16", 2}, {"BF16", 2},
                                       {"I64", 8},     {"I32", 4},     {"I16", 2}, {"I8", 1},
                                       {"U64", 8},     {"U32", 4},     {"U16", 2}, {"U8", 1},
                                       {"F8_E4M3", 1}, {"F8_E5M2", 1}, {"BOOL", 1}};

[[noreturn]] void bad(const std::string& path, const std::string& what) {
  throw Error(ErrorCode::bad_input, path + ": " + what);
}

std::uint64_t as_count(const Json& value, const std::string& path, const std::string& name) {
  if (!value.is_number_unsigned())
    bad(path, fmt::format("tensor {}: a shape or offset is no whole number", shortened(name)));
  return value.get<std::uint64_t>();
}

// Bytes that the shape and type stand for.
std::uint64_t read_shape(const Json& entry, const std::string& path, const std::string& name,
                         StoredTensor& tensor) {
  tensor.type = entry.at("dtype").get<std::string>();
  const auto* const type = std::find_if(std::begin(kStoredTypes), std::end(kStoredTypes),
                                        [&](const StoredType& t) { return tensor.type == t.name; });
  if (type == std::end(kStoredTypes))
    bad(path,
        fmt::format("tensor {}: type {} is unknown", shortened(name), biogpu::quoted(tensor.type)));
  std::uint64_t bytes = type->bytes;
  std::int64_t n_numbers = 1;
  const Json& shape = entry.at("shape");
  if (!shape.is_array() || shape.size() > kMaxStoredRank)
    bad(path, fmt::format("tensor {}: its shape is no list of sizes", shortened(name)));
  for (const Json& value : shape) {
    const std::uint64_t n = as_count(value, path, name);
    if (n > INT64_MAX || __builtin_mul_overflow(n_numbers, n, &n_numbers) ||
        __builtin_mul_overflow(bytes, n, &bytes))
      bad(path, fmt::format("tensor {}: its shape is too large", shortened(name)));
    tensor.shape.push_back(static_cast<std::int64_t>(n));
  }
  return bytes;
}

std::string read_text(const std::string& path) {
  const io::MappedFile file(path);
  return {reinterpret_cast<const char*>(file.data()), static_cast<std::size_t>(file.size())};
}

template <class From, class Convert>
void convert(const std::uint8_t* data, std::int64_t first, std::int64_t n, float* out,
             Convert&& to_float) {
  for (std::int64_t i = 0; i < n; ++i) {
    From value;
    std::memcpy(&value, data + static_cast<std::size_t>(first + i) * sizeof value, sizeof value);
    out[i] = to_float(value);
  }
}

}  // namespace

std::int64_t StoredTensor::size() const {
  std::int64_t n = 1;
  for (const std::int64_t s : shape) n *= s;
  return n;
}

bool StoredTensor::is_floating() const {
  return type == "F32" || type == "F16" || type == "BF16" || type == "F64";
}

bool StoredTensor::to_floats(std::int64_t first, std::int64_t n, float* out) const {
  if (type == "F32") {
    convert<float>(data, first, n, out, [](float v) { return v; });
  } else if (type == "F16") {
    convert<std::uint16_t>(data, first, n, out, from_f16);
  } else if (type == "BF16") {
    convert<std::uint16_t>(data, first, n, out, from_bf16);
  } else if (type == "F64") {
    convert<double>(data, first, n, out, [](double v) { return static_cast<float>(v); });
  } else {
    return false;
  }
  return true;
}

void Checkpoint::add_file(const std::string& path) {
  const io::MappedFile& map = maps_.emplace_back(path);
  const std::size_t file = files_.size();
  files_.push_back(path);
  const auto is_foreign = foreign_file({reinterpret_cast<const char*>(map.data()), map.size()});
  if (!is_foreign.empty()) bad(path, std::string(is_foreign));
  std::uint64_t header_bytes = 0;
  if (map.size() < sizeof header_bytes) bad(path, "is no safetensors file: it has no header");
  std::memcpy(&header_bytes, map.data(), sizeof header_bytes);
  if (header_bytes > kMaxHeaderBytes || header_bytes > map.size() - sizeof header_bytes)
    bad(path, fmt::format("its header of {} bytes does not fit; it is cut short or no safetensors "
                          "file (scripts/convert makes one of a .bin or .pt file)",
                          header_bytes));
  const char* const text = reinterpret_cast<const char*>(map.data()) + sizeof header_bytes;
  const Json header = parse_bounded_json({text, header_bytes}, path);
  if (!header.is_object()) bad(path, "its header is no JSON object");
  const std::uint8_t* const data = map.data() + sizeof header_bytes + header_bytes;
  const std::uint64_t data_bytes = map.size() - sizeof header_bytes - header_bytes;

  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") continue;
    if (!entry.is_object() || !entry.contains("dtype") || !entry["dtype"].is_string() ||
        !entry.contains("shape") || !entry.contains("data_offsets") ||
        !entry["data_offsets"].is_array() || entry["data_offsets"].size() != 2)
      bad(path, fmt::format("tensor {}: needs dtype, shape and data_offsets", shortened(name)));
    StoredTensor tensor;
    tensor.bytes = read_shape(entry, path, name, tensor);
    const std::uint64_t begin = as_count(entry["data_offsets"][0], path, name);
    const std::uint64_t end = as_count(entry["data_offsets"][1], path, name);
    if (begin > end || end > data_bytes)
      bad(path, fmt::format("tensor {}: bytes {} to {} do not lie in the {} of the file",
                            shortened(name), begin, end, data_bytes));
    if (end - begin != tensor.bytes)
      bad(path,
          fmt::format("tensor {}: {} bytes for a {} {}", shortened(name), end - begin, tensor.type,
                      describe_shape(tensor.shape.data(), static_cast<int>(tensor.shape.size()))));
    tensor.data = data + begin;
    tensor.file = file;
    ranges.emplace_back(begin, end);
    n_numbers_ += tensor.size();  // no more than the files have bytes
    if (!tensors_.emplace(name, std::move(tensor)).second)
      bad(path, fmt::format("tensor {} is in two files", shortened(name)));
  }
  std::sort(ranges.begin(), ranges.end());
  std::uint64_t at = 0;
  for (const auto& [begin, end] : ranges) {
    if (begin != at) bad(path, fmt::format("its tensors overlap or leave bytes out at {}", at));
    at = end;
  }
  if (at != data_bytes) bad(path, fmt::format("{} bytes after the last tensor", data_bytes - at));
}

Checkpoint Checkpoint::in_memory(const std::string& name,
                                 std::map<std::string, StoredTensor> tensors) {
  Checkpoint checkpoint;
  checkpoint.files_.push_back(name);
  checkpoint.tensors_ = std::move(tensors);
  for (const auto& [key, tensor] : checkpoint.tensors_) checkpoint.n_numbers_ += tensor.size();
  return checkpoint;
}

Checkpoint Checkpoint::open(const std::string& path) {
  namespace fs = std::filesystem;
  Checkpoint checkpoint;
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) {
    checkpoint.add_file(path);
    return checkpoint;
  }
  const std::string single = path + "/model.safetensors";
  const std::string index = path + "/model.safetensors.index.json";
  if (fs::exists(single, ignored)) {
    checkpoint.add_file(single);
    return checkpoint;
  }
  if (!fs::exists(index, ignored))
    bad(path,
        "has no model.safetensors and no model.safetensors.index.json; "
        "scripts/convert makes one of pytorch_model.bin");
  const std::string text = read_text(index);
  if (!foreign_file(text).empty()) bad(index, std::string(foreign_file(text)));
  const Json map = parse_bounded_json(io::input::without_mark(text, index), index);
  if (!map.is_object() || !map.contains("weight_map") || !map["weight_map"].is_object())
    bad(index, "has no weight_map");
  std::set<std::string> shards;
  for (const auto& [name, shard] : map["weight_map"].items()) {
    if (!shard.is_string() || shard.get<std::string>().find('/') != std::string::npos)
      bad(index, fmt::format("weight_map of {} names no file of this folder", shortened(name)));
    shards.insert(shard.get<std::string>());
  }
  for (const std::string& shard : shards) checkpoint.add_file(fmt::format("{}/{}", path, shard));
  for (const auto& [name, shard] : map["weight_map"].items())
    if (checkpoint.tensors_.count(name) == 0)
      bad(index, fmt::format("tensor {} is not in {}", shortened(name),
                             shortened(shard.get<std::string>())));
  return checkpoint;
}

}  // namespace biogpu::tensor
