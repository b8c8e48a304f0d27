// Look-ups in a mapped .bgk file.
#include <libdeflate.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "lib/kmer/database/bgk/bgk_file.hpp"
#include "lib/kmer/database/source.hpp"
#include "lib/kmer/database/throw_bad_input.hpp"

namespace biogpu::kmer {
namespace {

// The index is searched for the last block that does not begin behind the key.
class BgkLookup : public Lookup {
 public:
  BgkLookup(const std::string& path, io::MappedFile file) : path_(path), file_(std::move(file)) {
    const std::string_view bytes = file_.bytes();
    header_ = parse_bgk_header(bytes, path);
    layout_ = bgk_layout(bytes);
    if (bytes.size() < kBgkHeaderBytes + layout_.trailer_bytes())
      throw_bad_input(path, "the file ends inside its header");
    key_bytes_ = static_cast<std::size_t>(bytes_for(header_.k));
    const std::size_t end = bytes.size() - layout_.trailer_bytes();
    const BgkTrailer trailer = parse_bgk_trailer(bytes.substr(end), layout_, path);
    check_geometry(trailer, end);
    n_keys_ = trailer.n_keys;
    n_blocks_ = trailer.n_blocks;
    blocks_end_ = trailer.index_offset;
    index_ = bytes.data() + trailer.index_offset;
    const std::string_view json = bytes.substr(end - trailer.json_bytes, trailer.json_bytes);
    check_bgk_sum(trailer, layout_, bytes.substr(0, kBgkHeaderBytes), json, path);
    if (layout_.has_checksums &&
        libdeflate_crc32(0, index_, n_blocks_ * entry_bytes()) != trailer.index_sum)
      throw_bad_input(path, "its index does not match its checksum");
    parse_bgk_provenance(json, path, header_);
  }

  std::uint64_t n_keys() const override { return n_keys_; }

  void find(const std::uint64_t* keys, std::span<std::uint64_t> counts) const override {
    const auto n_words = static_cast<std::size_t>(words_for(header_.k));
    std::string wanted;
    CountBlock block;
    std::size_t in_block = n_blocks_;  // which block `block` holds
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const std::uint64_t* key = keys + i * n_words;
      wanted.clear();
      append_key_bytes(key, header_.k, wanted);
      const std::size_t at = find_block(wanted);
      counts[i] = 0;
      if (at == n_blocks_) continue;
      if (at != in_block) decode(in_block = at, block);
      counts[i] = find_in(block, key);
    }
  }

 private:
  // That index and provenance fill the file from the end of the blocks to the trailer.
  void check_geometry(const BgkTrailer& trailer, std::size_t end) const {
    const std::uint64_t n = trailer.n_keys / kBgkBlock + (trailer.n_keys % kBgkBlock != 0);
    if (trailer.json_bytes > std::min<std::size_t>(end, kMaxBgkJson) ||
        trailer.index_offset > end - trailer.json_bytes ||
        trailer.n_blocks != (end - trailer.json_bytes - trailer.index_offset) / entry_bytes() ||
        trailer.n_blocks * entry_bytes() != end - trailer.json_bytes - trailer.index_offset ||
        trailer.n_blocks != n)
      throw_bad_input(path_, "its trailer does not fit the file; the file is damaged");
  }

  std::size_t entry_bytes() const { return key_bytes_ + sizeof(std::uint64_t); }

  // n_blocks_ where all blocks begin behind the key.
  std::size_t find_block(const std::string& wanted) const {
    std::size_t low = 0;
    std::size_t high = n_blocks_;
    while (low < high) {
      const std::size_t middle = low + (high - low) / 2;
      if (std::memcmp(index_ + middle * entry_bytes(), wanted.data(), key_bytes_) <= 0)
        low = middle + 1;
      else
        high = middle;
    }
    return low == 0 ? n_blocks_ : low - 1;
  }

  void decode(std::size_t at, CountBlock& block) const {
    std::uint64_t offset = 0;
    std::memcpy(&offset, index_ + at * entry_bytes() + key_bytes_, sizeof offset);
    const std::size_t n_head = layout_.block_header_bytes();
    if (offset < kBgkHeaderBytes || offset > blocks_end_ || blocks_end_ - offset < n_head)
      throw_bad_input(path_, "its index points outside the file");
    const std::string_view bytes = file_.bytes().substr(offset, blocks_end_ - offset);
    const BgkBlockHead head = parse_bgk_block_head(bytes.substr(0, n_head), layout_, path_);
    if (head.n_keys == 0 || head.n_bytes > bytes.size() - n_head)
      throw_bad_input(path_, "a block reaches outside the file");
    block.clear(words_for(header_.k));
    parse_bgk_block(bytes.substr(n_head, head.n_bytes), head, layout_, header_.k, path_, block);
  }

  static std::uint64_t find_in(const CountBlock& block, const std::uint64_t* key) {
    const auto n_words = static_cast<std::size_t>(block.n_words);
    std::size_t low = 0;
    std::size_t high = block.size();
    while (low < high) {
      const std::size_t middle = low + (high - low) / 2;
      const std::uint64_t* at = block.key(middle);
      if (std::lexicographical_compare(at, at + n_words, key, key + n_words))
        low = middle + 1;
      else
        high = middle;
    }
    const bool found = low < block.size() && std::equal(key, key + n_words, block.key(low));
    return found ? block.counts[low] : 0;
  }

  const std::string path_;
  io::MappedFile file_;
  BgkLayout layout_;
  std::size_t key_bytes_ = 0;
  std::uint64_t n_keys_ = 0;
  std::uint64_t n_blocks_ = 0;
  std::uint64_t blocks_end_ = 0;
  const char* index_ = nullptr;
};

}  // namespace

std::unique_ptr<Lookup> open_bgk_lookup(const std::string& path, io::MappedFile file) {
  return std::make_unique<BgkLookup>(path, std::move(file));
}

}  // namespace biogpu::kmer
