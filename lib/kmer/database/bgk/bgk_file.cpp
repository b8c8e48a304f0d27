// Reading the parts of .bgk files.
#include "lib/kmer/database/bgk/bgk_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "lib/core/bounded_json.hpp"
#include "lib/kmer/database/check_keys.hpp"
#include "lib/kmer/database/json_fields.hpp"
#include "lib/kmer/database/throw_bad_input.hpp"

namespace biogpu::kmer {
namespace {

constexpr std::size_t kMaxPayload = kBgkBlock * 96;  // more than 256 keys of k 256 can take

template <class Integer>
Integer integer_at(std::string_view bytes, std::size_t offset) {
  Integer value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

class Decoder {
 public:
  Decoder(std::string_view payload, const std::string& label)
      : at_(payload.data()), end_(payload.data() + payload.size()), label_(label) {}

  // Adds a variable number to words.
  void add_varint(std::vector<std::uint64_t>& words) {
    std::vector<std::uint64_t>& sum = words;
    for (std::size_t shift = 0;; shift += 7) {
      const auto byte = static_cast<unsigned char>(take());
      add_shifted(byte & 0x7fu, shift, sum);
      if ((byte & 0x80) == 0) return;
    }
  }

  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(take());
      if (shift == 63 && byte > 1) break;  // beyond 64 bits
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return value;
    }
    throw_bad_input(label_, "a count is damaged");
  }

  void key(int k, std::vector<std::uint64_t>& words) {
    const auto n = static_cast<std::size_t>(bytes_for(k));
    std::fill(words.begin(), words.end(), 0);
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t from_end = n - 1 - i;
      words[words.size() - 1 - from_end / 8] |=
          static_cast<std::uint64_t>(static_cast<unsigned char>(take())) << 8 * (from_end % 8);
    }
  }

  bool at_end() const { return at_ == end_; }

 private:
  char take() {
    if (at_ == end_) throw_bad_input(label_, "a block is damaged");
    return *at_++;
  }

  void add_shifted(std::uint64_t value, std::size_t shift, std::vector<std::uint64_t>& words) {
    const std::size_t low = shift / 64;
    if (low >= words.size()) {
      if (value != 0) throw_bad_input(label_, "a key is damaged");
      return;
    }
    std::uint64_t carry = value << shift % 64;
    std::uint64_t above = shift % 64 > 57 ? value >> (64 - shift % 64) : 0;
    for (std::size_t w = words.size() - 1 - low;; --w) {
      const bool overflow = __builtin_add_overflow(words[w], carry, &words[w]);
      carry = above + (overflow ? 1 : 0);
      above = 0;
      if (carry == 0 || w == 0) return;
    }
  }

  const char* at_;
  const char* const end_;
  const std::string& label_;
};

}  // namespace

BgkLayout bgk_layout(std::string_view head) {
  return {head.substr(0, kBgkMagic.size()) == kBgkMagic};
}

Header parse_bgk_header(std::string_view bytes, const std::string& label) {
  if (bytes.size() < kBgkHeaderBytes) throw_bad_input(label, "the file ends inside its header");
  Header header;
  header.format = Format::bgk;
  const auto k = integer_at<std::uint32_t>(bytes, 8);
  if (k < 1 || k > static_cast<std::uint32_t>(kMaxK))
    throw_bad_input(label, fmt::format("k is {}; expected 1 to {}", k, kMaxK));
  const auto flags = integer_at<std::uint32_t>(bytes, 12);
  if (flags > 1) throw_bad_input(label, fmt::format("its flags are {}; expected 0 or 1", flags));
  header.k = static_cast<int>(k);
  header.canonical = flags == 1;
  header.order = KeyOrder::lexicographic(header.k);
  return header;
}

BgkBlockHead parse_bgk_block_head(std::string_view bytes, const BgkLayout& layout,
                                  const std::string& label) {
  BgkBlockHead head{integer_at<std::uint32_t>(bytes, 0), integer_at<std::uint32_t>(bytes, 4), 0};
  if (layout.has_checksums) head.sum = integer_at<std::uint32_t>(bytes, 8);
  const bool is_end = head.n_keys == 0;
  if (head.n_bytes > kMaxPayload || head.n_keys > kBgkBlock || (head.n_bytes == 0) != is_end)
    throw_bad_input(label, "a block is damaged");
  if (layout.has_checksums && is_end && head.sum != bgk_block_sum(0, 0, {}))
    throw_bad_input(label, "the end of the blocks is damaged");
  return head;
}

void parse_bgk_block(std::string_view payload, const BgkBlockHead& head, const BgkLayout& layout,
                     int k, const std::string& label, CountBlock& block) {
  if (layout.has_checksums && head.sum != bgk_block_sum(head.n_bytes, head.n_keys, payload))
    throw_bad_input(label, "a block does not match its checksum");
  Decoder decoder(payload, label);
  const std::size_t first = block.size();
  std::vector<std::uint64_t> key(static_cast<std::size_t>(words_for(k)));
  for (std::size_t i = 0; i < head.n_keys; ++i) {
    if (i == 0)
      decoder.key(k, key);
    else
      decoder.add_varint(key);
    block.keys.insert(block.keys.end(), key.begin(), key.end());
    block.counts.push_back(decoder.varint());
  }
  if (!decoder.at_end()) throw_bad_input(label, "a block is longer than its records");
  check_key_bits(block, first, k, label);
  check_ascending(block, first, label);
}

BgkTrailer parse_bgk_trailer(std::string_view bytes, const BgkLayout& layout,
                             const std::string& label) {
  const std::string_view magic = layout.magic();
  if (bytes.size() != layout.trailer_bytes() || !bytes.ends_with(magic))
    throw_bad_input(label, "the file does not end as a database does; it may be cut short");
  BgkTrailer trailer{integer_at<std::uint64_t>(bytes, 0),
                     integer_at<std::uint64_t>(bytes, 8),
                     integer_at<std::uint64_t>(bytes, 16),
                     integer_at<std::uint64_t>(bytes, 24),
                     integer_at<std::uint64_t>(bytes, 32),
                     0,
                     0};
  if (layout.has_checksums) {
    trailer.index_sum = integer_at<std::uint32_t>(bytes, 40);
    trailer.sum = integer_at<std::uint32_t>(bytes, 44);
  }
  return trailer;
}

void check_bgk_sum(const BgkTrailer& trailer, const BgkLayout& layout, std::string_view head,
                   std::string_view json, const std::string& label) {
  if (layout.has_checksums && trailer.sum != bgk_sum(trailer, head, json))
    throw_bad_input(label, "head, provenance or trailer do not match their checksum");
}

void parse_bgk_provenance(std::string_view text, const std::string& label, Header& header) {
  const auto json = parse_bounded_json(text, label);
  read_provenance(JsonFields(json, label), header);
}

}  // namespace biogpu::kmer
