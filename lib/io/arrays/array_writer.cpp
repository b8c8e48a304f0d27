#include "lib/io/arrays/array_writer.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"
#include "lib/io/arrays/formats.hpp"
#include "lib/io/output/suffix.hpp"

namespace biogpu::io {

ArrayFormat array_format(const std::string& path) {
  constexpr std::pair<std::string_view, ArrayFormat> kFormats[] = {
      {"npy", ArrayFormat::npy},
      {"npz", ArrayFormat::npz},
      {"safetensors", ArrayFormat::safetensors},
      {"h5", ArrayFormat::hdf5}};
  const std::string suffix = suffix_of(path).format;
  for (const auto& [name, format] : kFormats)
    if (suffix == name) return format;
  return ArrayFormat::tsv;
}

std::string KeySet::unique(const NamedArray& array) {
  const std::size_t n = array.key.size() - array.kind_bytes;
  return unique(array.key.substr(0, n), array.key.substr(n));
}

std::string KeySet::unique(const std::string& name, const std::string& kind) {
  const std::uint64_t n = ++seen_[name + kind];
  return n == 1 ? name + kind : unique(fmt::format("{}#{}", name, n), kind);
}

void refuse_name(const std::string& path, const NamedArray& array, const std::string& key,
                 const std::string& what) {
  throw Error(ErrorCode::usage, fmt::format("{}{}: the name {} {}",
                                            array.place ? array.place() + ": " : std::string(),
                                            path, biogpu::quoted(key), what));
}

void require_text_name(const std::string& path, const NamedArray& array, const std::string& key) {
  if (key.find('\0') != std::string::npos)
    refuse_name(path, array, key, "has a NUL byte, which ends a name here; use .npy or .tsv");
  try {
    static_cast<void>(nlohmann::json(key).dump());
  } catch (const nlohmann::json::type_error&) {
    refuse_name(path, array, key, "is not UTF-8, as this format needs it; use .npy or .tsv");
  }
}

std::string_view bytes_of(const SharedArray& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

std::unique_ptr<ArrayWriter> make_array_writer(const std::string& path, ArrayFormat format) {
  switch (format) {
    case ArrayFormat::npy:
      return make_npy_writer(path);
    case ArrayFormat::npz:
      return make_npz_writer(path);
    case ArrayFormat::safetensors:
      return make_safetensors_writer(path);
    case ArrayFormat::hdf5:
      return make_hdf5_writer(path);
    case ArrayFormat::tsv:
      break;
  }
  return make_tsv_writer(path);
}

}  // namespace biogpu::io
