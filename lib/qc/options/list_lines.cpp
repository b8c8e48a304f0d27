#include "lib/qc/options/list_lines.hpp"

#include <fmt/format.h>

#include "lib/core/error.hpp"
#include "lib/io/line_reader.hpp"

namespace biogpu::qc {
namespace {

// Of text: a small compressed file may hold any amount of it.
constexpr std::size_t kMaxBytes = 16u << 20;
constexpr const char* kExpected = "a list of adapters or barcodes";

}  // namespace

std::vector<std::string> read_list_lines(const std::string& path) {
  io::LineReader reader(path, kExpected);
  std::vector<std::string> lines;
  std::size_t n_bytes = 0;
  for (std::string line; reader.next(line);) {
    n_bytes += line.size() + 1;
    if (n_bytes > kMaxBytes)
      throw Error(ErrorCode::bad_input, fmt::format("{}: is larger than {} MiB; expected {}", path,
                                                    kMaxBytes >> 20, kExpected));
    lines.push_back(line);
  }
  return lines;
}

}  // namespace biogpu::qc
