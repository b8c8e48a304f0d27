#include "lib/bio/genome/random_text.hpp"

#include <fmt/format.h>
#include <libdeflate.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "lib/core/error.hpp"
#include "lib/io/deflate_handles.hpp"
#include "lib/io/input/bgzf.hpp"

namespace biogpu::genome {
namespace {

constexpr std::size_t kMaxBlockBytes = 1u << 16;  // of a BGZF block, packed and as text

}  // namespace

// What inflating needs, once for all blocks of a read.
struct PackedBuffer {
  std::string packed = std::string(kMaxBlockBytes, '\0');
  io::Decompressor tool = io::make_decompressor();
};

RandomText::RandomText(const FaidxFiles& files, std::vector<BgzfBlock> blocks)
    : file_(files.fasta),
      compressed_(files.compressed),
      gzi_(files.gzi),
      blocks_(std::move(blocks)) {}

void RandomText::read(std::uint64_t offset, char* to, std::size_t n) const {
  if (read_some(offset, to, n) != n) fail("is shorter than its index says");
}

std::size_t RandomText::read_some(std::uint64_t offset, char* to, std::size_t n) const {
  if (!compressed_) return file_.read_at(offset, to, n);
  const auto behind =
      std::upper_bound(blocks_.begin(), blocks_.end(), offset,
                       [](std::uint64_t at, const BgzfBlock& block) { return at < block.text; });
  PackedBuffer buffer;
  std::size_t n_read = 0;
  for (auto i = static_cast<std::size_t>(behind - blocks_.begin()) - 1;
       n_read < n && i < blocks_.size(); ++i) {
    const std::string text = inflate(i, buffer);
    const std::uint64_t skipped = offset + n_read - blocks_[i].text;
    if (skipped >= text.size()) continue;
    const std::size_t n_here = std::min<std::size_t>(n - n_read, text.size() - skipped);
    std::memcpy(to + n_read, text.data() + skipped, n_here);
    n_read += n_here;
  }
  return n_read;
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
