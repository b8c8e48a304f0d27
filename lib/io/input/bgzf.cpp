#include "lib/io/input/bgzf.hpp"

#include <fmt/format.h>
#include <libdeflate.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "lib/core/error.hpp"
#include "lib/io/input/warnings.hpp"

namespace biogpu::io::input {
namespace {

constexpr std::size_t kHeaderBytes = 12;   // up to the extra field
constexpr std::size_t kMinDataBytes = 10;  // an empty deflate stream and the trailer
constexpr std::size_t kMaxTextBytes = 1u << 16;
constexpr std::size_t kReadBytes = 1u << 20;
constexpr int kBlocksPerGroup = 16;

std::uint32_t little_endian(std::string_view bytes, std::size_t at, int n) {
  std::uint32_t value = 0;
  for (int i = n; i-- > 0;) {
    value = value << 8 | static_cast<std::uint8_t>(bytes[at + static_cast<std::size_t>(i)]);
  }
  return value;
}

std::uint32_t text_bytes(std::string_view block) {
  return little_endian(block, block.size() - 4, 4);
}

libdeflate_decompressor* decompressor_of(Block& block) {
  if (!block.tool) {
    libdeflate_decompressor* decompressor = libdeflate_alloc_decompressor();
    if (decompressor == nullptr) throw std::bad_alloc();
    block.tool.reset(decompressor, [](void* tool) {
      libdeflate_free_decompressor(static_cast<libdeflate_decompressor*>(tool));
    });
  }
  return static_cast<libdeflate_decompressor*>(block.tool.get());
}

}  // namespace

int bgzf_block_bytes(std::string_view head) {
  constexpr std::string_view kMagic("\x1f\x8b\x08\x04", 4);
  const std::size_t n_magic = std::min(head.size(), kMagic.size());
  if (head.substr(0, n_magic) != kMagic.substr(0, n_magic)) return -1;
  if (head.size() < kHeaderBytes) return 0;
  const std::size_t end = kHeaderBytes + little_endian(head, kHeaderBytes - 2, 2);
  for (std::size_t at = kHeaderBytes; at + 4 <= end;) {
    if (head.size() < at + 6) return 0;
    const std::size_t length = little_endian(head, at + 2, 2);
    if (head[at] == 'B' && head[at + 1] == 'C' && length == 2) {
      const std::uint32_t bytes = little_endian(head, at + 4, 2) + 1;
      return bytes < end + kMinDataBytes ? -1 : static_cast<int>(bytes);
    }
    at += 4 + length;
  }
  return -1;
}

BgzfProducer::BgzfProducer(RawFile& file, EndMarker end_marker)
    : file_(file), end_marker_(end_marker) {}

bool BgzfProducer::refill() {
  const std::size_t kept = input_.size() - begin_;
  if (kept > 0) std::memmove(input_.data(), input_.data() + begin_, kept);
  begin_ = 0;
  input_.resize(kept + kReadBytes);
  const std::size_t got = file_.read(input_.data() + kept, kReadBytes);
  input_.resize(kept + got);
  return got > 0;
}

bool BgzfProducer::take(Block& block) {
  if (gzip_) return gzip_->take(block);
  for (int n_blocks = 0; n_blocks < kBlocksPerGroup;) {
    const int bytes = bgzf_block_bytes(unread());
    if (bytes < 0 && !unread().empty()) {
      if (n_blocks > 0) return true;  // the group so far; the next turn sees the same bytes
      gzip_ = std::make_unique<GzipProducer>(file_, unread());
      return gzip_->take(block);
    }
    const auto size = static_cast<std::size_t>(bytes);
    if (bytes > 0 && size <= unread().size()) {
      const std::string_view whole = unread().substr(0, size);
      saw_end_marker_ = text_bytes(whole) == 0;
      if (!saw_end_marker_) last_block_ = whole;
      block.packed.append(whole.data(), size);
      begin_ += size;
      ++n_blocks;
    } else if (!refill()) {
      if (!unread().empty()) fail("ends inside a BGZF block; the file may be cut short");
      if (n_blocks > 0) return true;
      check_end_marker();
      return false;
    }
  }
  return true;
}

void BgzfProducer::check_end_marker() {
  if (saw_end_marker_) return;
  if (end_marker_ == EndMarker::required) fail(std::string(kNoEndMarker));
  Block last;
  last.packed.append(last_block_.data(), last_block_.size());
  finish(last);
  if (!last.text.view().ends_with('\n'))
    fail("ends inside a line and without BGZF's end marker; the file may be cut short");
  add_warning(fmt::format("{}: {}", file_.label(), kNoEndMarker));
}

void BgzfProducer::finish(Block& block) {
  for (std::string_view rest = block.packed.view(); !rest.empty();) {
    const std::string_view packed =
        rest.substr(0, static_cast<std::size_t>(bgzf_block_bytes(rest)));
    rest.remove_prefix(packed.size());
    const std::size_t n_text = text_bytes(packed);
    const std::size_t begin = block.text.size();
    if (n_text > kMaxTextBytes) fail("a BGZF block is damaged: it claims more than 64 KiB of text");
    block.text.resize(begin + n_text + 1);  // + 1: never a null pointer
    std::size_t n_out = 0;
    const libdeflate_result status =
        libdeflate_gzip_decompress(decompressor_of(block), packed.data(), packed.size(),
                                   block.text.data() + begin, n_text, &n_out);
    if (status != LIBDEFLATE_SUCCESS || n_out != n_text) {
      fail("a BGZF block is damaged: its text does not match its checksum and size");
    }
    block.text.resize(begin + n_text);
  }
}

void BgzfProducer::fail(const std::string& what) const {
  throw Error(ErrorCode::bad_input, fmt::format("{}: {}", file_.label(), what));
}

}  // namespace biogpu::io::input
