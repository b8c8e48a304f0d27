// Reading .bgk files from beginning to end. All that the file says of itself is compared with what
// was read: records, sum, blocks, their index and, where the version has them, checksums.
#include <fmt/format.h>
#include <libdeflate.h>

#include <algorithm>
#include <utility>

#include "lib/io/char_buffer.hpp"
#include "lib/kmer/database/bgk/bgk_file.hpp"
#include "lib/kmer/database/check_keys.hpp"
#include "lib/kmer/database/source.hpp"
#include "lib/kmer/database/throw_bad_input.hpp"

namespace biogpu::kmer {
namespace {

constexpr std::size_t kBlocksAtOnce = 64;

class BgkSource : public DatabaseReader::Source {
 public:
  explicit BgkSource(std::unique_ptr<io::input::RawFile> file) : file_(std::move(file)) {
    head_ = take(kBgkHeaderBytes);
    layout_ = bgk_layout(head_);
    header = parse_bgk_header(head_, file_->label());
  }

  bool read(CountBlock& block) override {
    block.clear(words_for(header.k));
    for (std::size_t i = 0; i < kBlocksAtOnce && !at_end_; ++i) read_block(block);
    return block.size() > 0;
  }

 private:
  std::string_view take(std::size_t n) {
    buffer_.resize(n);
    if (file_->read(buffer_.data(), n) < n)
      throw_bad_input(file_->label(), "the file ends early; it may be cut short");
    return buffer_.view();
  }

  void read_block(CountBlock& block) {
    const std::uint64_t offset = file_->bytes_read();
    const BgkBlockHead head =
        parse_bgk_block_head(take(layout_.block_header_bytes()), layout_, file_->label());
    if (head.n_keys == 0) return finish();
    if (has_short_block_) throw_bad_input(file_->label(), "a block before the last is not full");
    has_short_block_ = head.n_keys < kBgkBlock;
    const std::size_t first = block.size();
    parse_bgk_block(take(head.n_bytes), head, layout_, header.k, file_->label(), block);
    note_block(block, first, offset);
  }

  void note_block(const CountBlock& block, std::size_t first, std::uint64_t offset) {
    const auto n_words = static_cast<std::size_t>(block.n_words);
    const std::uint64_t* const key = block.key(first);
    if (!last_.empty() &&
        !std::lexicographical_compare(last_.begin(), last_.end(), key, key + n_words))
      throw_bad_input(file_->label(), "blocks are out of order; the file is damaged");
    const std::uint64_t* const last = block.key(block.size() - 1);
    last_.assign(last, last + n_words);
    entry_.clear();
    append_index_entry(key, header.k, offset, entry_);
    found_.index_sum = libdeflate_crc32(found_.index_sum, entry_.data(), entry_.size());
    found_.n_keys += block.size() - first;
    ++found_.n_blocks;
    for (std::size_t i = first; i < block.size(); ++i)
      if (__builtin_add_overflow(found_.total, block.counts[i], &found_.total))
        found_.total = UINT64_MAX;
  }

  // What follows the blocks.
  void finish() {
    at_end_ = true;
    found_.index_offset = file_->bytes_read();
    entry_.clear();
    append_index_entry(std::vector<std::uint64_t>(8).data(), header.k, 0, entry_);
    std::uint32_t index_sum = 0;
    for (std::uint64_t i = 0; i < found_.n_blocks; ++i) {
      const std::string_view entry = take(entry_.size());
      index_sum = libdeflate_crc32(index_sum, entry.data(), entry.size());
    }
    if (index_sum != found_.index_sum)
      throw_bad_input(file_->label(), "its index does not fit its blocks");
    const std::string rest = read_rest();
    if (rest.size() < layout_.trailer_bytes())
      throw_bad_input(file_->label(), "it may be cut short");
    found_.json_bytes = rest.size() - layout_.trailer_bytes();
    const std::string_view json = std::string_view(rest).substr(0, found_.json_bytes);
    const BgkTrailer trailer =
        parse_bgk_trailer(std::string_view(rest).substr(json.size()), layout_, file_->label());
    check_bgk_sum(trailer, layout_, head_, json, file_->label());
    check_trailer(trailer);
    parse_bgk_provenance(json, file_->label(), header);
  }

  std::string read_rest() {
    constexpr std::size_t kStep = 1u << 16;
    std::string rest;
    for (std::size_t got = kStep; got == kStep;) {
      if (rest.size() > kMaxBgkJson) throw_bad_input(file_->label(), "its provenance is too long");
      const std::size_t before = rest.size();
      rest.resize(before + kStep);
      got = file_->read(rest.data() + before, kStep);
      rest.resize(before + got);
    }
    return rest;
  }

  void check_trailer(const BgkTrailer& trailer) const {
    if (trailer.n_keys != found_.n_keys || trailer.total != found_.total)
      throw_bad_input(
          file_->label(),
          fmt::format("it says {} k-mers with a sum of {}, but {} with a sum of {} were read; "
                      "the file is damaged",
                      trailer.n_keys, trailer.total, found_.n_keys, found_.total));
    if (trailer.n_blocks != found_.n_blocks || trailer.index_offset != found_.index_offset ||
        trailer.json_bytes != found_.json_bytes)
      throw_bad_input(file_->label(), "its trailer does not fit the file; the file is damaged");
  }

  std::unique_ptr<io::input::RawFile> file_;
  io::CharBuffer buffer_;
  std::string head_;
  BgkLayout layout_;
  BgkTrailer found_;                 // what was read
  std::vector<std::uint64_t> last_;  // the last key, empty before the first
  std::string entry_;                // of the index
  bool has_short_block_ = false;
  bool at_end_ = false;
};

}  // namespace

bool is_bgk(std::string_view head) {
  const std::string_view magic = head.substr(0, kBgkMagic.size());
  return magic == kBgkMagic || magic == kBgkMagic1;
}

std::unique_ptr<DatabaseReader::Source> open_bgk(const std::string& path,
                                                 std::unique_ptr<io::input::RawFile> file) {
  auto source = std::make_unique<BgkSource>(std::move(file));
  source->path = path;
  return source;
}

}  // namespace biogpu::kmer
