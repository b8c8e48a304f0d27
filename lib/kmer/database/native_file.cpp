#include "lib/kmer/database/native_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "lib/core/error.hpp"
#include "lib/kmer/database/refuse.hpp"

namespace biogpu::kmer {
namespace {

template <class Integer>
void append_integer(Integer value, std::string& out) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  out.append(bytes, sizeof value);
}

template <class Integer>
Integer integer_at(std::string_view bytes, std::size_t offset) {
  Integer value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

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
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return value;
    }
    refuse(label_, "a count is damaged");
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
    if (at_ == end_) refuse(label_, "a block is damaged");
    return *at_++;
  }

  void add_shifted(std::uint64_t value, std::size_t shift, std::vector<std::uint64_t>& words) {
    const std::size_t low = shift / 64;
    if (low >= words.size()) {
      if (value != 0) refuse(label_, "a key is damaged");
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

void append_key_bytes(const std::uint64_t* key, int k, std::string& out) {
  const auto n_words = static_cast<std::size_t>(words_for(k));
  for (auto i = static_cast<std::size_t>(bytes_for(k)); i-- > 0;)
    out += static_cast<char>(key[n_words - 1 - i / 8] >> 8 * (i % 8));
}

NativeEncoder::NativeEncoder(const Header& header) : header_(header) {
  open_.clear(words_for(header.k));
}

std::string NativeEncoder::begin() const {
  std::string bytes(kNativeMagic);
  append_integer(static_cast<std::uint32_t>(header_.k), bytes);
  append_integer(std::uint32_t{header_.canonical ? 1u : 0u}, bytes);
  return bytes;
}

void NativeEncoder::write(const CountBlock& block, io::OutputFile& out) {
  const auto n_words = static_cast<std::size_t>(block.n_words);
  for (std::size_t i = 0; i < block.size(); ++i) {
    open_.keys.insert(open_.keys.end(), block.key(i), block.key(i) + n_words);
    open_.counts.push_back(block.counts[i]);
    if (open_.size() == kNativeBlock) write_block(out);
  }
}

void NativeEncoder::write_block(io::OutputFile& out) {
  if (open_.size() == 0) return;
  append_key_bytes(open_.key(0), header_.k, index_);
  append_integer(out.bytes(), index_);
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
  std::string head;
  append_integer(static_cast<std::uint32_t>(payload.size()), head);
  append_integer(static_cast<std::uint32_t>(open_.size()), head);
  out.write(head);
  out.write(payload);
  trailer_.n_keys += open_.size();
  ++trailer_.n_blocks;
  open_.clear(open_.n_words);
}

void NativeEncoder::finish(io::OutputFile& out) {
  write_block(out);
  out.write(std::string(kNativeBlockHeaderBytes, '\0'));
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
  std::string bytes;
  for (const std::uint64_t value : {trailer_.n_keys, trailer_.total, trailer_.n_blocks,
                                    trailer_.index_offset, trailer_.json_bytes})
    append_integer(value, bytes);
  out.write(bytes);
  out.write(kNativeMagic);
}

Header parse_native_header(std::string_view bytes, const std::string& label) {
  if (bytes.size() < kNativeHeaderBytes) refuse(label, "the file ends inside its header");
  Header header;
  header.format = Format::native;
  const auto k = integer_at<std::uint32_t>(bytes, 8);
  if (k < 1 || k > static_cast<std::uint32_t>(kMaxK))
    refuse(label, fmt::format("k is {}; expected 1 to {}", k, kMaxK));
  header.k = static_cast<int>(k);
  header.canonical = (integer_at<std::uint32_t>(bytes, 12) & 1) != 0;
  header.order = KeyOrder::lexicographic(header.k);
  return header;
}

void parse_native_block(std::string_view payload, std::size_t n, int k, const std::string& label,
                        CountBlock& block) {
  Decoder decoder(payload, label);
  std::vector<std::uint64_t> key(static_cast<std::size_t>(words_for(k)));
  for (std::size_t i = 0; i < n; ++i) {
    if (i == 0)
      decoder.key(k, key);
    else
      decoder.add_varint(key);
    block.keys.insert(block.keys.end(), key.begin(), key.end());
    block.counts.push_back(decoder.varint());
  }
  if (!decoder.at_end()) refuse(label, "a block is longer than its records");
}

NativeTrailer parse_native_trailer(std::string_view bytes, const std::string& label) {
  if (bytes.size() != kNativeTrailerBytes || bytes.substr(40) != kNativeMagic)
    refuse(label, "the file does not end as a database does; it may be cut short");
  return {integer_at<std::uint64_t>(bytes, 0), integer_at<std::uint64_t>(bytes, 8),
          integer_at<std::uint64_t>(bytes, 16), integer_at<std::uint64_t>(bytes, 24),
          integer_at<std::uint64_t>(bytes, 32)};
}

void parse_native_provenance(std::string_view text, Header& header) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) return;  // who made it is not worth a refusal
  header.command = json.value("cmdline", std::vector<std::string>());
  header.program = json.value("exe_path", "");
  header.host = json.value("hostname", "");
  header.folder = json.value("pwd", "");
  header.time = json.value("time", "");
}

}  // namespace biogpu::kmer
