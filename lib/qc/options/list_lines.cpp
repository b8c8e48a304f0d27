#include "lib/qc/options/list_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "lib/core/error.hpp"
#include "lib/io/text_reader.hpp"

namespace biogpu::qc {
namespace {

// Of text: a small compressed file may hold any amount of it.
constexpr std::size_t kMaxBytes = 16u << 20;

}  // namespace

std::vector<std::string> read_list_lines(const std::string& path) {
  io::TextReader reader(path);
  std::string text;
  for (std::string_view piece; !(piece = reader.next()).empty();) {
    text += piece;
    if (text.size() > kMaxBytes)
      throw Error(ErrorCode::bad_input,
                  fmt::format("{}: is larger than {} MiB; expected a list of adapters or barcodes",
                              path, kMaxBytes >> 20));
  }
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    if (lines.back().ends_with('\r')) lines.back().pop_back();
    begin = end + 1;
  }
  return lines;
}

}  // namespace biogpu::qc
