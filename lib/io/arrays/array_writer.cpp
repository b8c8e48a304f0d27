#include "lib/io/arrays/array_writer.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"
#include "lib/io/arrays/formats.hpp"

namespace biogpu::io {

std::optional<ArrayFormat> find_array_format(const std::string& path) {
  struct Suffix {
    const char* text;
    ArrayFormat format;
  };
  constexpr Suffix kSuffixes[] = {{".npy", ArrayFormat::npy},
                                  {".npz", ArrayFormat::npz},
                                  {".safetensors", ArrayFormat::safetensors},
                                  {".h5", ArrayFormat::hdf5},
                                  {".hdf5", ArrayFormat::hdf5},
                                  {".tsv", ArrayFormat::tsv},
                                  {".txt", ArrayFormat::tsv},
                                  {".tsv.gz", ArrayFormat::tsv}};
  if (path == "-") return ArrayFormat::tsv;
  for (const Suffix& suffix : kSuffixes)
    if (path.ends_with(suffix.text)) return suffix.format;
  return std::nullopt;
}

ArrayFormat array_format(const std::string& path) {
  if (const auto format = find_array_format(path)) return *format;
  throw Error(ErrorCode::usage,
              "'" + path + "' has no known suffix; expected .npy, .npz, .safetensors, .h5 or .tsv");
}

std::string KeySet::unique(const NamedArray& array) {
  const std::size_t n = array.key.size() - array.kind_bytes;
  return unique(array.key.substr(0, n), array.key.substr(n));
}

std::string KeySet::unique(const std::string& name, const std::string& kind) {
  const std::uint64_t n = ++seen_[name + kind];
  return n == 1 ? name + kind : unique(fmt::format("{}#{}", name, n), kind);
}

void require_utf8(const std::string& path, const std::string& key) {
  try {
    static_cast<void>(nlohmann::json(key).dump());
  } catch (const nlohmann::json::type_error&) {
    throw Error(ErrorCode::usage,
                fmt::format("{}: the name {} is not UTF-8, as this format needs it; use .npy or "
                            ".tsv",
                            path, biogpu::quoted(key)));
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
