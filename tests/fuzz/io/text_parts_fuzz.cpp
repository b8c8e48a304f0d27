// Text parts of `biogpu gather`: the first byte chooses the format, the others are two parts on
// both sides of a byte 1. Refused, or joined without a line that ends in a part. A byte order mark
// is not part of the text.
#include <algorithm>
#include <string>
#include <string_view>

#include "lib/core/error.hpp"
#include "lib/io/part_joiner.hpp"
#include "tests/fuzz/support/memory_file.hpp"

using namespace biogpu;

namespace {

bool is_gzip(std::string_view part) { return part.starts_with("\x1f\x8b"); }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n) {
  if (n == 0) return 0;
  const auto format = static_cast<io::PartFormat>(bytes[0] % 3);
  const std::string_view text(reinterpret_cast<const char*>(bytes) + 1, n - 1);
  const std::size_t middle = std::min(text.find('\1'), text.size());
  std::string_view parts[] = {text.substr(0, middle),
                              text.substr(std::min(middle + 1, text.size()))};
  const auto file_of = [](std::string_view part) {
    return fuzz::MemoryFile(reinterpret_cast<const std::uint8_t*>(part.data()), part.size());
  };
  const fuzz::MemoryFile first = file_of(parts[0]);
  const fuzz::MemoryFile second = file_of(parts[1]);
  std::string path;
  try {
    io::OutputFile out("/dev/null");
    io::PartJoiner joiner(format, out);
    for (const fuzz::MemoryFile* const file : {&first, &second}) {
      path = file->path();
      joiner.add(path);
    }
    for (std::string_view& part : parts)
      if (part.starts_with("\xef\xbb\xbf")) part.remove_prefix(3);
    for (const std::string_view part : parts)
      fuzz::require(part.empty() || is_gzip(part) || part.back() == '\n', "a part that is cut");
    if (format == io::PartFormat::lines && !is_gzip(parts[0]) && !is_gzip(parts[1]))
      fuzz::require(out.bytes() == parts[0].size() + parts[1].size(), "all bytes are written");
    out.commit();
  } catch (const Error& error) {
    fuzz::require(error.code() == ErrorCode::bad_input || error.code() == ErrorCode::failed,
                  "the kind of the error");
    fuzz::require(std::string(error.what()).find(path) != std::string::npos,
                  "the error names the file");
  }
  return 0;
}
