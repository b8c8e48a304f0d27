// Parts of `biogpu gather --format npy`: refused, or all rows joined. An input is an index, a byte
// 0 and an .npy; it is given as both of two parts.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "lib/core/error.hpp"
#include "lib/io/arrays/npy_parts.hpp"
#include "tests/fuzz/support/folder.hpp"
#include "tests/fuzz/support/mutate.hpp"

using namespace biogpu;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n) {
  static const fuzz::Folder folder;
  const std::string_view text(reinterpret_cast<const char*>(bytes), n);
  const std::size_t middle = std::min(text.find('\0'), n);
  const std::string part = folder.path() + "/part.npy";
  const std::string_view rows = text.substr(std::min(middle + 1, n));
  std::ofstream(part, std::ios::binary) << rows;
  std::ofstream(part + ".index.tsv", std::ios::binary) << text.substr(0, middle);
  try {
    io::join_npy({part, part}, folder.path() + "/all.npy");
    const auto joined = std::filesystem::file_size(folder.path() + "/all.npy");
    fuzz::require(joined <= 128 + 2 * rows.size(), "rows from nowhere");
  } catch (const Error& error) {
    fuzz::require(error.code() == ErrorCode::bad_input || error.code() == ErrorCode::failed ||
                      error.code() == ErrorCode::usage,
                  "the kind of the error");
    fuzz::require(std::string_view(error.what()).find(folder.path()) != std::string_view::npos,
                  "the error names the file");
  }
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  fuzz::Format format;
  format.layout = fuzz::Layout::text;
  return fuzz::mutate_file(data, size, max_size, seed, format);
}
