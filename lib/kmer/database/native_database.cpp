// Reading .bgk files: from beginning to end, and by look-up in the mapped file.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "lib/core/error.hpp"
#include "lib/io/char_buffer.hpp"
#include "lib/kmer/database/native_file.hpp"
#include "lib/kmer/database/refuse.hpp"
#include "lib/kmer/database/source.hpp"

namespace biogpu::kmer {
namespace {

constexpr std::size_t kMaxPayload = kNativeBlock * 96;  // more than 256 keys of k 256 can take
constexpr std::size_t kBlocksAtOnce = 64;

struct BlockHead {
  std::uint32_t n_bytes = 0;
  std::uint32_t n_keys = 0;
};

BlockHead parse_head(const char* bytes, const std::string& label) {
  BlockHead head;
  std::memcpy(&head.n_bytes, bytes, 4);
  std::memcpy(&head.n_keys, bytes + 4, 4);
  if (head.n_bytes > kMaxPayload || head.n_keys > kNativeBlock ||
      (head.n_bytes == 0) != (head.n_keys == 0))
    refuse(label, "a block is damaged");
  return head;
}

class NativeSource : public DatabaseReader::Source {
 public:
  explicit NativeSource(std::unique_ptr<io::input::RawFile> file) : file_(std::move(file)) {
    header = parse_native_header(take(kNativeHeaderBytes), file_->label());
  }

  bool read(CountBlock& block) override {
    block.clear(words_for(header.k));
    for (std::size_t i = 0; i < kBlocksAtOnce && !at_end_; ++i) {
      const BlockHead head = parse_head(take(kNativeBlockHeaderBytes).data(), file_->label());
      if (head.n_keys == 0)
        finish();
      else
        parse_native_block(take(head.n_bytes), head.n_keys, header.k, file_->label(), block);
    }
    return block.size() > 0;
  }

 private:
  std::string_view take(std::size_t n) {
    buffer_.resize(n);
    if (file_->read(buffer_.data(), n) < n)
      refuse(file_->label(), "the file ends inside a block; it may be cut short");
    return buffer_.view();
  }

  // Reads what follows the blocks, so that a cut file does not pass for whole.
  void finish() {
    at_end_ = true;
    io::CharBuffer rest;
    for (std::size_t got = 1; got > 0;) {
      const std::size_t before = rest.size();
      rest.resize(before + (1u << 16));
      got = file_->read(rest.data() + before, 1u << 16);
      rest.resize(before + got);
      // Only the end is of interest, and the JSON before it is short.
      constexpr std::size_t kKeep = 1u << 20;
      if (rest.size() > 2 * kKeep) {
        std::memmove(rest.data(), rest.data() + rest.size() - kKeep, kKeep);
        rest.resize(kKeep);
      }
    }
    if (rest.size() < kNativeTrailerBytes) refuse(file_->label(), "it may be cut short");
    const std::string_view bytes = rest.view();
    const std::size_t end = bytes.size() - kNativeTrailerBytes;
    const NativeTrailer trailer = parse_native_trailer(bytes.substr(end), file_->label());
    if (trailer.json_bytes <= end)
      parse_native_provenance(bytes.substr(end - trailer.json_bytes, trailer.json_bytes), header);
  }

  std::unique_ptr<io::input::RawFile> file_;
  io::CharBuffer buffer_;
  bool at_end_ = false;
};

// The index is searched for the last block that does not begin behind the key.
class NativeLookup : public Lookup {
 public:
  NativeLookup(const std::string& path, io::MappedFile file) : path_(path), file_(std::move(file)) {
    const std::string_view bytes = file_.bytes();
    header_ = parse_native_header(bytes, path);
    if (bytes.size() < kNativeHeaderBytes + kNativeTrailerBytes)
      refuse(path, "the file ends inside its header");
    const std::size_t end = bytes.size() - kNativeTrailerBytes;
    const NativeTrailer trailer = parse_native_trailer(bytes.substr(end), path);
    key_bytes_ = static_cast<std::size_t>(bytes_for(header_.k));
    n_keys_ = trailer.n_keys;
    n_blocks_ = trailer.n_blocks;
    if (trailer.index_offset > end || n_blocks_ > (end - trailer.index_offset) / entry_bytes())
      refuse(path, "its index does not fit the file");
    index_ = bytes.data() + trailer.index_offset;
    blocks_end_ = trailer.index_offset;
    if (trailer.json_bytes <= end)
      parse_native_provenance(bytes.substr(end - trailer.json_bytes, trailer.json_bytes), header_);
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
    if (offset > blocks_end_ || blocks_end_ - offset < kNativeBlockHeaderBytes)
      refuse(path_, "its index points outside the file");
    const char* bytes = file_.bytes().data() + offset;
    const BlockHead head = parse_head(bytes, path_);
    if (head.n_bytes > blocks_end_ - offset - kNativeBlockHeaderBytes)
      refuse(path_, "a block reaches outside the file");
    block.clear(words_for(header_.k));
    parse_native_block({bytes + kNativeBlockHeaderBytes, head.n_bytes}, head.n_keys, header_.k,
                       path_, block);
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
  std::size_t key_bytes_ = 0;
  std::uint64_t n_keys_ = 0;
  std::uint64_t n_blocks_ = 0;
  std::uint64_t blocks_end_ = 0;
  const char* index_ = nullptr;
};

}  // namespace

bool is_native(std::string_view head) {
  return head.substr(0, kNativeMagic.size()) == kNativeMagic;
}

std::unique_ptr<DatabaseReader::Source> open_native(const std::string& path,
                                                    std::unique_ptr<io::input::RawFile> file) {
  auto source = std::make_unique<NativeSource>(std::move(file));
  source->path = path;
  return source;
}

std::unique_ptr<Lookup> open_native_lookup(const std::string& path, io::MappedFile file) {
  return std::make_unique<NativeLookup>(path, std::move(file));
}

}  // namespace biogpu::kmer
