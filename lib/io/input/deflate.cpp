#include "lib/io/input/deflate.hpp"

#include <algorithm>

#include "lib/io/input/deflate_tables.hpp"

namespace biogpu::io::input {
namespace {

constexpr std::size_t kLongestCopy = 258;
constexpr std::size_t kSlack = kLongestCopy + 32;  // what one round of decode_codes may write

template <class Symbol>
void copy_back(Symbol* to, std::size_t distance, std::size_t length) {
  constexpr std::size_t kStep = 16 / sizeof(Symbol);
  const Symbol* from = to - distance;
  if (distance < kStep) {
    for (std::size_t i = 0; i < length; ++i) to[i] = from[i];
    return;
  }
  // Whole steps: the end may be passed, into what is written next.
  for (std::size_t i = 0; i < length; i += kStep) std::memcpy(to + i, from + i, 16);
}

}  // namespace

// Codes must be complete, but for none at all or a single one of one bit.
template <unsigned kRootBits>
bool DeflateDecoder::Table<kRootBits>::build(const std::uint8_t* lengths, int n,
                                             bool of_distances) {
  constexpr int kLongest = 15;
  constexpr std::uint32_t kRoot = 1u << kRootBits;
  std::uint32_t count[kLongest + 1] = {};
  for (int s = 0; s < n; ++s) ++count[lengths[s]];
  count[0] = 0;
  std::uint32_t next_code[kLongest + 2] = {};
  std::uint32_t used = 0;  // of 2^15 codes
  for (int length = 1; length <= kLongest; ++length) {
    next_code[length + 1] = (next_code[length] + count[length]) << 1;
    used += count[length] << (kLongest - length);
  }
  constexpr std::uint32_t kAll = 1u << kLongest;
  if (used > kAll || (used < kAll && used != 0 && used != count[1] << (kLongest - 1))) return false;
  if (used < kAll) std::fill_n(entries, kRoot, make_entry(Kind::none, 0, 0));
  std::uint8_t index_bits[kRoot] = {};
  std::uint16_t codes[288];
  for (int s = 0; s < n; ++s) {
    const int length = lengths[s];
    if (length == 0) continue;
    codes[s] = static_cast<std::uint16_t>(reversed_bits(next_code[length]++, length));
    if (length <= static_cast<int>(kRootBits)) continue;
    std::uint8_t& bits = index_bits[codes[s] & (kRoot - 1)];
    bits = std::max(bits, static_cast<std::uint8_t>(length - static_cast<int>(kRootBits)));
  }
  std::uint32_t end = kRoot;
  for (int s = 0; s < n; ++s) {
    const auto length = static_cast<std::uint32_t>(lengths[s]);
    if (length == 0) continue;
    const std::uint32_t entry =
        (of_distances ? meaning_of_distance(s) : meaning_of_literal(s)) | length;
    if (length <= kRootBits) {
      for (std::uint32_t at = codes[s]; at < kRoot; at += 1u << length) entries[at] = entry;
      continue;
    }
    const std::uint32_t root = codes[s] & (kRoot - 1);
    if (index_bits[root] != 0) {  // the first of this subtable
      if (end + (1u << index_bits[root]) > kRoot + kMaxSubtables) return false;
      entries[root] = make_entry(Kind::subtable, index_bits[root], end);
      end += 1u << index_bits[root];
      index_bits[root] = 0;
    }
    const std::uint32_t size = 1u << (entries[root] >> 8 & 31);
    for (std::uint32_t at = codes[s] >> kRootBits; at < size; at += 1u << (length - kRootBits))
      entries[(entries[root] >> 16) + at] = entry;
  }
  return true;
}

bool DeflateDecoder::read_codes(BitReader& in) {
  in.refill();
  const int n_literals = static_cast<int>(in.take(5)) + 257;
  const int n_distances = static_cast<int>(in.take(5)) + 1;
  const int n_lengths = static_cast<int>(in.take(4)) + 4;
  if (n_literals > 286 || n_distances > 30) return false;
  std::uint8_t of_lengths[19] = {};
  std::uint64_t kraft = 0;
  for (int i = 0; i < n_lengths; ++i) {
    if (i % 16 == 0) in.refill();
    const unsigned length = in.take(3);
    of_lengths[kLengthOrder[i]] = static_cast<std::uint8_t>(length);
    kraft += length == 0 ? 0 : 128u >> length;
  }
  if (kraft != 128) return false;
  LengthTable codes;
  codes.build(of_lengths);
  std::uint8_t lengths[286 + 30 + 138];
  const int n = n_literals + n_distances;
  for (int i = 0; i < n;) {
    in.refill();
    const std::uint8_t entry = codes.entries[in.bits() & 127];
    in.drop(entry >> 5);
    const unsigned symbol = entry & 31;
    if (symbol < 16) {
      lengths[i++] = static_cast<std::uint8_t>(symbol);
      continue;
    }
    if (symbol == 16 && i == 0) return false;
    const std::uint8_t value = symbol == 16 ? lengths[i - 1] : std::uint8_t{0};
    const unsigned times = symbol == 16   ? 3 + in.take(2)
                           : symbol == 17 ? 3 + in.take(3)
                                          : 11 + in.take(7);
    std::fill_n(lengths + i, times, value);
    i += static_cast<int>(times);
    if (i > n) return false;
  }
  if (in.overrun() || lengths[256] == 0) return false;
  return literals_.build(lengths, n_literals, false) &&
         distances_.build(lengths + n_literals, n_distances, true);
}

void DeflateDecoder::set_fixed_codes() {
  std::uint8_t lengths[288];
  std::fill_n(lengths, 144, std::uint8_t{8});
  std::fill_n(lengths + 144, 112, std::uint8_t{9});
  std::fill_n(lengths + 256, 24, std::uint8_t{7});
  std::fill_n(lengths + 280, 8, std::uint8_t{8});
  literals_.build(lengths, 288, false);
  std::fill_n(lengths, 32, std::uint8_t{5});
  distances_.build(lengths, 32, true);
}

template <class Symbol>
DeflateDecoder::Result DeflateDecoder::copy_stored(BitReader& in, Decoded<Symbol>& out) {
  const std::uint64_t at = (in.position() + 7) / 8;
  if (at + 4 > in.size()) return Result::short_of;
  std::uint16_t length = 0;
  std::uint16_t inverse = 0;
  std::memcpy(&length, in.byte(at), 2);
  std::memcpy(&inverse, in.byte(at + 2), 2);
  if (length != static_cast<std::uint16_t>(~inverse)) return Result::damaged;
  if (at + 4 + length > in.size()) return Result::short_of;
  out.reserve(out.size() + length);
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(in.byte(at + 4));
  std::copy_n(bytes, length, out.data() + out.size());
  out.set_size(out.size() + length);
  in.seek_byte(at + 4 + length);
  return Result::more;
}

template <class Symbol>
DeflateDecoder::Result DeflateDecoder::decode_codes(BitReader& reader, Decoded<Symbol>& out) const {
  BitReader in = reader;  // a copy stays in registers, whatever the text is written over
  const std::size_t before = out.size() - out.n_known();  // nothing refers to what lies there
  std::size_t at = out.size();
  for (;;) {
    out.reserve(at + kSlack);
    Symbol* const text = out.data();
    // Until the buffer is nearly full: a literal or two, then a literal or a copy.
    const std::size_t room = out.capacity() - kSlack;
    while (at <= room) {
      in.refill();
      if (in.near_end() && in.overrun()) return Result::short_of;
      std::uint32_t entry = look_up<kLiteralBits>(literals_.entries, in.bits());
      in.drop(entry & 31);
      if (kind_of(entry) == Kind::literal) {
        text[at++] = static_cast<Symbol>(entry >> 16);
        entry = look_up<kLiteralBits>(literals_.entries, in.bits());
        in.drop(entry & 31);
        if (kind_of(entry) == Kind::literal) {
          text[at++] = static_cast<Symbol>(entry >> 16);
          continue;
        }
        in.refill();
      }
      if (kind_of(entry) == Kind::end) {
        out.set_size(at);
        reader = in;
        return in.overrun() ? Result::short_of : Result::more;
      }
      if (kind_of(entry) != Kind::copy) return in.overrun() ? Result::short_of : Result::damaged;
      const std::size_t length = (entry >> 16) + in.take(entry >> 8 & 31);
      const std::uint32_t far = look_up<kDistanceBits>(distances_.entries, in.bits());
      in.drop(far & 31);
      const std::size_t distance = (far >> 16) + in.take(far >> 8 & 31);
      if (kind_of(far) != Kind::copy || distance > at - before)
        return in.overrun() ? Result::short_of : Result::damaged;
      copy_back(text + at, distance, length);
      at += length;
    }
  }
}

template <class Symbol>
DeflateDecoder::Result DeflateDecoder::decode(BitReader& in, Decoded<Symbol>& out) {
  in.refill();
  const bool last = in.take(1) != 0;
  const unsigned kind = in.take(2);
  Result result = Result::damaged;
  if (kind == 0) {
    result = copy_stored(in, out);
  } else if (kind == 1) {
    set_fixed_codes();
    result = decode_codes(in, out);
  } else if (kind == 2 && read_codes(in)) {
    result = decode_codes(in, out);
  }
  // What the bits behind the end happen to say is no damage.
  if (in.overrun()) return Result::short_of;
  return result == Result::more && last ? Result::last : result;
}

bool DeflateDecoder::can_begin(BitReader in) {
  in.refill();
  constexpr unsigned kNotLastWithCodes = 4;
  return in.take(3) == kNotLastWithCodes && read_codes(in);
}

template DeflateDecoder::Result DeflateDecoder::decode(BitReader&, Decoded<std::uint8_t>&);
template DeflateDecoder::Result DeflateDecoder::decode(BitReader&, Decoded<std::uint16_t>&);

}  // namespace biogpu::io::input
