// Parts of a report from any bytes: an Error, or a part that merges alone and with itself, and
// whose reports can be written.
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "lib/core/bounded_json.hpp"
#include "lib/core/error.hpp"
#include "lib/qc/merge/part.hpp"
#include "lib/qc/report/html_report.hpp"
#include "lib/qc/report/json_report.hpp"
#include "tests/fuzz/support/memory_file.hpp"
#include "tests/fuzz/support/mutate.hpp"

using namespace biogpu;
using fuzz::MemoryFile;
using fuzz::require;
using nlohmann::json;

namespace {

// The map as JSON text, whose numbers and keys can be changed; other bytes as they are.
std::string text_of(const std::string& file) {
  try {
    return parse_bounded_cbor(file, "input").dump();
  } catch (const std::exception&) {
    return file;
  }
}

std::string cbor_of(const std::string& text) {
  json map;
  try {
    map = parse_bounded_json(text, "input");
  } catch (const std::exception&) {
    return text;
  }
  // What dump() makes of bytes.
  const auto keys = map.is_object() ? map.find("duplicate_keys") : map.end();
  if (keys != map.end() && keys->is_object() && keys->contains("bytes")) {
    std::vector<std::uint8_t> bytes;
    for (const json& byte : (*keys)["bytes"])
      if (byte.is_number_unsigned()) bytes.push_back(byte.get<std::uint8_t>());
    *keys = json::binary(bytes);
  }
  const std::vector<std::uint8_t> packed = json::to_cbor(map);
  return {packed.begin(), packed.end()};
}

void merge(const qc::Part& part, std::uint32_t n_parts) {
  std::vector<qc::Part> parts;
  for (std::uint32_t i = 1; i <= n_parts; ++i) {
    parts.push_back(part);
    parts.back().options.shard = {i, n_parts};
  }
  const qc::Merged merged =
      qc::merge_parts(parts, std::vector<std::string>(parts.size(), "a part"));
  qc::json_report(merged.summary, merged.options, merged.command);
  qc::html_report(merged.summary, merged.options, merged.command);
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  return fuzz::mutate_file(data, size, max_size, seed,
                           {fuzz::Layout::text, text_of, cbor_of, nullptr});
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n) {
  const MemoryFile file(bytes, n);
  try {
    const qc::Part part = qc::read_part(file.path());
    merge(part, 1);
    merge(part, 3);
  } catch (const Error& error) {
    require(std::string_view(error.what()).starts_with(file.path()), "an error without its file");
  }
  return 0;
}
