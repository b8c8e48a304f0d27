// Writing .bgk files.
#include <libdeflate.h>

#include <nlohmann/json.hpp>

#include "lib/kmer/database/bgk/bgk_file.hpp"

namespace biogpu::kmer {
namespace {

// Seven bits a byte, the lowest first; all but the last have the top bit set.
void append_varint(std::vector<std::uint64_t>& words, std::string& out) {
  while (true) {
    const auto low = static_cast<unsigned char>(words.back() & 0x7f);
    bool rest = false;
    for (std::size_t w = words.size(); w-- > 0;) {
      words[w] = words[w] >> 7 | (w > 0 ? words[w - 1] << 57 : 0);
      rest = rest || words[w] != 0;
    }
    out += static_cast<char>(rest ? low | 0x80 : low);
    if (!rest) return;
  }
}

void append_varint(std::uint64_t value, std::string& out) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

// words = a - b, most significant first.
void subtract(const std::uint64_t* a, const std::uint64_t* b, std::vector<std::uint64_t>& words) {
  unsigned borrow = 0;
  for (std::size_t w = words.size(); w-- > 0;) {
    const std::uint64_t difference = a[w] - b[w];
    words[w] = difference - borrow;
    borrow = a[w] < b[w] || (borrow != 0 && difference == 0) ? 1 : 0;
  }
}

std::string block_head(std::uint32_t n_bytes, std::uint32_t n_keys, std::string_view payload) {
  std::string head;
  append_integer(n_bytes, head);
  append_integer(n_keys, head);
  append_integer(bgk_block_sum(n_bytes, n_keys, payload), head);
  return head;
}

void append_numbers(const BgkTrailer& trailer, std::string& out) {
  for (const std::uint64_t value :
       {trailer.n_keys, trailer.total, trailer.n_blocks, trailer.index_offset, trailer.json_bytes})
    append_integer(value, out);
}

}  // namespace

void append_key_bytes(const std::uint64_t* key, int k, std::string& out) {
  const auto n_words = static_cast<std::size_t>(words_for(k));
  for (auto i = static_cast<std::size_t>(bytes_for(k)); i-- > 0;)
    out += static_cast<char>(key[n_words - 1 - i / 8] >> 8 * (i % 8));
}

void append_index_entry(const std::uint64_t* key, int k, std::uint64_t offset, std::string& out) {
  append_key_bytes(key, k, out);
  append_integer(offset, out);
}

std::uint32_t bgk_block_sum(std::uint32_t n_bytes, std::uint32_t n_keys, std::string_view payload) {
  std::string head;
  append_integer(n_bytes, head);
  append_integer(n_keys, head);
  const std::uint32_t sum = libdeflate_crc32(0, head.data(), head.size());
  return libdeflate_crc32(sum, payload.data(), payload.size());
}

std::uint32_t bgk_sum(const BgkTrailer& trailer, std::string_view head, std::string_view json) {
  std::string numbers;
  append_numbers(trailer, numbers);
  append_integer(trailer.index_sum, numbers);
  std::uint32_t sum = libdeflate_crc32(0, head.data(), head.size());
  sum = libdeflate_crc32(sum, json.data(), json.size());
  return libdeflate_crc32(sum, numbers.data(), numbers.size());
}

BgkEncoder::BgkEncoder(const Header& header) : header_(header) { open_.clear(words_for(header.k)); }

std::string BgkEncoder::begin() const {
  std::string bytes(kBgkMagic);
  append_integer(static_cast<std::uint32_t>(header_.k), bytes);
  append_integer(std::uint32_t{header_.canonical ? 1u : 0u}, bytes);
  return bytes;
}

void BgkEncoder::write(const CountBlock& block, io::OutputFile& out) {
  const auto n_words = static_cast<std::size_t>(block.n_words);
  for (std::size_t i = 0; i < block.size(); ++i) {
    open_.keys.insert(open_.keys.end(), block.key(i), block.key(i) + n_words);
    open_.counts.push_back(block.counts[i]);
    if (open_.size() == kBgkBlock) write_block(out);
  }
}

void BgkEncoder::write_block(io::OutputFile& out) {
  if (open_.size() == 0) return;
  append_index_entry(open_.key(0), header_.k, out.bytes(), index_);
  std::string payload;
  append_key_bytes(open_.key(0), header_.k, payload);
  std::vector<std::uint64_t> difference(static_cast<std::size_t>(open_.n_words));
  for (std::size_t i = 0; i < open_.size(); ++i) {
    if (i > 0) {
      subtract(open_.key(i), open_.key(i - 1), difference);
      if (difference.size() == 1)
        append_varint(difference[0], payload);
      else
        append_varint(difference, payload);
    }
    append_varint(open_.counts[i], payload);
    if (__builtin_add_overflow(trailer_.total, open_.counts[i], &trailer_.total))
      trailer_.total = UINT64_MAX;
  }
  out.write(block_head(static_cast<std::uint32_t>(payload.size()),
                       static_cast<std::uint32_t>(open_.size()), payload));
  out.write(payload);
  trailer_.n_keys += open_.size();
  ++trailer_.n_blocks;
  open_.clear(open_.n_words);
}

void BgkEncoder::finish(io::OutputFile& out) {
  write_block(out);
  out.write(block_head(0, 0, {}));
  trailer_.index_offset = out.bytes();
  out.write(index_);
  const nlohmann::ordered_json provenance = {{"cmdline", header_.command},
                                             {"exe_path", header_.program},
                                             {"hostname", header_.host},
                                             {"pwd", header_.folder},
                                             {"time", header_.time}};
  const std::string json =
      provenance.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  out.write(json);
  trailer_.json_bytes = json.size();
  trailer_.index_sum = libdeflate_crc32(0, index_.data(), index_.size());
  std::string bytes;
  append_numbers(trailer_, bytes);
  append_integer(trailer_.index_sum, bytes);
  append_integer(bgk_sum(trailer_, begin(), json), bytes);
  out.write(bytes);
  out.write(kBgkMagic);
}

}  // namespace biogpu::kmer
