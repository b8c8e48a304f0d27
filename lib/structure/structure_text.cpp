#include "lib/structure/structure_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "lib/core/error.hpp"
#include "lib/io/input/byte_order_mark.hpp"
#include "lib/io/input/compression.hpp"
#include "lib/io/input/gzip.hpp"

namespace biogpu::structure {
namespace {

constexpr std::size_t kChunkBytes = 1u << 20;
// Coordinates shrink to a fifth, or a tenth where models repeat.
constexpr std::uint64_t kMaxExpansion = 50;
constexpr std::uint64_t kAlwaysAllowed = 16u << 20;
constexpr std::string_view kLargeFilePointer = "version https://git-lfs.github.com/spec/";

}  // namespace

void fail(const std::string& path, const std::string& what) {
  throw Error(ErrorCode::bad_input, path + ": " + what);
}

std::string read_structure_text(const std::string& path) {
  io::input::RawFile file(path);
  std::unique_ptr<io::input::ByteSource> unzipped;
  io::input::ByteSource* source = &file;
  if (file.peek(2) == "\x1f\x8b") {
    unzipped = std::make_unique<io::input::BlockSource>(
        std::make_unique<io::input::GzipProducer>(file, std::string_view()), 0);
    source = unzipped.get();
  }
  std::string text;
  bool is_first = true;
  for (std::size_t n = 0;;) {
    text.resize(n + kChunkBytes);
    const std::size_t got = source->read(text.data() + n, kChunkBytes);
    if (std::exchange(is_first, false)) {
      const std::string_view head(text.data(), got);
      io::input::refuse_compression(head, path);
      if (head.starts_with(kLargeFilePointer))
        fail(path, "is a pointer of Git LFS, not the file itself; 'git lfs pull' gets it");
    }
    if (got > 0 && std::memchr(text.data() + n, '\0', got) != nullptr)
      fail(path, "holds a byte 0x00; expected the text of PDB or mmCIF");
    n += got;
    text.resize(n);
    if (got == 0) {
      text.erase(0, io::input::count_mark_bytes(text, path));
      return text;
    }
    if (unzipped && n > std::max(kAlwaysAllowed, kMaxExpansion * file.bytes_read()))
      fail(path, fmt::format("gzip expands to more than {} times its size; expected a structure",
                             kMaxExpansion));
  }
}

}  // namespace biogpu::structure
