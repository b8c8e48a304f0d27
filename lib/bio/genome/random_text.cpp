#include "lib/bio/genome/random_text.hpp"

#include <fmt/format.h>
#include <libdeflate.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

#include "lib/core/error.hpp"
#include "lib/io/deflate_handles.hpp"
#include "lib/io/input/bgzf.hpp"

namespace biogpu::genome {
namespace {

constexpr std::size_t kMaxBlockBytes = 1u << 16;  // of a BGZF block, packed and as text
constexpr std::size_t kPieceBytes = 1u << 20;

std::uint64_t read_u64(const char* bytes) {  // little-endian, as the machine
  std::uint64_t value = 0;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

}  // namespace

// What inflating needs, once for all blocks of a read.
struct PackedBuffer {
  std::string packed = std::string(kMaxBlockBytes, '\0');
  io::Decompressor tool = io::make_decompressor();
};

RandomText::RandomText(const FaidxFiles& files)
    : file_(files.fasta), compressed_(files.compressed), gzi_(files.gzi) {
  if (compressed_) read_index(files);
}

// FASTA.gzi: the number of blocks but the first, and of each its two offsets.
void RandomText::read_index(const FaidxFiles& files) {
  io::input::RawFile index(files.gzi);
  std::string bytes;
  for (std::size_t n = kPieceBytes; n == kPieceBytes;) {
    const std::size_t before = bytes.size();
    bytes.resize(before + kPieceBytes);
    n = index.read(bytes.data() + before, kPieceBytes);
    bytes.resize(before + n);
  }
  blocks_.push_back({});
  bool whole = bytes.size() >= 8 && (bytes.size() - 8) % 16 == 0 &&
               read_u64(bytes.data()) == (bytes.size() - 8) / 16;
  for (std::size_t at = 8; whole && at < bytes.size(); at += 16) {
    const Block block{read_u64(bytes.data() + at), read_u64(bytes.data() + at + 8)};
    whole = block.packed > blocks_.back().packed && block.text >= blocks_.back().text &&
            block.packed - blocks_.back().packed <= kMaxBlockBytes &&
            block.text - blocks_.back().text <= kMaxBlockBytes;
    blocks_.push_back(block);
  }
  if (!whole)
    throw Error(ErrorCode::bad_input,
                fmt::format("{}: malformed; expected the index that bgzip makes of {}", files.gzi,
                            files.fasta));
}

void RandomText::read(std::uint64_t offset, char* to, std::size_t n) const {
  if (!compressed_) {
    if (file_.read_at(offset, to, n) != n) fail("is shorter than its index says");
    return;
  }
  const auto behind =
      std::upper_bound(blocks_.begin(), blocks_.end(), offset,
                       [](std::uint64_t at, const Block& block) { return at < block.text; });
  PackedBuffer buffer;
  for (auto i = static_cast<std::size_t>(behind - blocks_.begin()) - 1; n > 0; ++i) {
    if (i == blocks_.size()) fail("is shorter than its index says");
    const std::string text = inflate(i, buffer);
    const std::uint64_t skipped = offset - blocks_[i].text;
    if (skipped >= text.size() && i + 1 == blocks_.size()) fail("is shorter than its index says");
    if (skipped >= text.size()) continue;
    const std::size_t n_here = std::min<std::size_t>(n, text.size() - skipped);
    std::memcpy(to, text.data() + skipped, n_here);
    to += n_here;
    offset += n_here;
    n -= n_here;
  }
}

std::string RandomText::inflate(std::size_t i, PackedBuffer& buffer) const {
  const std::size_t n_read =
      file_.read_at(blocks_[i].packed, buffer.packed.data(), buffer.packed.size());
  const std::string_view head(buffer.packed.data(), n_read);
  const int size = io::input::bgzf_block_bytes(head);
  const bool last = i + 1 == blocks_.size();
  if (size <= 0 || static_cast<std::size_t>(size) > n_read ||
      (!last && static_cast<std::uint64_t>(size) != blocks_[i + 1].packed - blocks_[i].packed))
    fail(fmt::format("has no whole BGZF block at byte {}", blocks_[i].packed));
  std::string text(kMaxBlockBytes, '\0');
  std::size_t n_text = 0;
  const libdeflate_result status =
      libdeflate_gzip_decompress(buffer.tool.get(), head.data(), static_cast<std::size_t>(size),
                                 text.data(), text.size(), &n_text);
  if (status != LIBDEFLATE_SUCCESS || (!last && n_text != blocks_[i + 1].text - blocks_[i].text))
    fail(fmt::format("the BGZF block at byte {} is damaged", blocks_[i].packed));
  text.resize(n_text);
  return text;
}

void RandomText::fail(const std::string& what) const {
  throw Error(
      ErrorCode::bad_input,
      fmt::format("{}: {}; it may be cut short or changed since it was indexed{}", file_.label(),
                  what, compressed_ ? fmt::format("; remove {} to index it again", gzi_) : ""));
}

}  // namespace biogpu::genome
