#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include "lib/core/aligned_buffer.hpp"

namespace biogpu::io::input {

// Deflate (RFC 1951) block by block, from any block on, also where the text before it is not known.
// What is decoded are symbols: a byte, or, in 16 bits, kMarker + i for byte i of the 32 KiB before
// the first block.
inline constexpr std::size_t kDeflateWindow = 32u << 10;
inline constexpr std::uint16_t kMarker = 256;

// Symbols behind the window that they may refer to. Grows without being zeroed.
template <class Symbol>
class Decoded {
 public:
  // Begins anew behind kDeflateWindow symbols, to be set by the caller, of which the last n_known
  // may be referred to.
  void start(std::size_t n_known) {
    reserve(kDeflateWindow);
    size_ = kDeflateWindow;
    first_ = kDeflateWindow - n_known;
  }
  // What follows may not refer to what is there: a gzip member begins.
  void forget() { first_ = size_; }

  Symbol* data() { return data_.get(); }  // the window first
  const Symbol* text() const { return data_.get() + kDeflateWindow; }
  std::size_t n_text() const { return size_ - kDeflateWindow; }
  std::size_t size() const { return size_; }
  std::size_t n_known() const { return size_ - first_; }
  void set_size(std::size_t size) { size_ = size; }
  std::size_t capacity() const { return capacity_; }

  void reserve(std::size_t capacity) {
    if (capacity <= capacity_) return;
    capacity = capacity > 2 * capacity_ ? capacity : 2 * capacity_;
    auto* grown = static_cast<Symbol*>(std::realloc(data_.get(), capacity * sizeof(Symbol)));
    if (grown == nullptr) throw std::bad_alloc();
    static_cast<void>(data_.release());
    data_.reset(grown);
    capacity_ = capacity;
  }

 private:
  MallocPtr<Symbol[]> data_;
  std::size_t size_ = 0;
  std::size_t first_ = 0;
  std::size_t capacity_ = 0;
};

// Bits of a buffer, the lowest of each byte first. The buffer is followed by kPadding readable
// bytes; whether more was read than there is shows overrun().
class BitReader {
 public:
  static constexpr std::size_t kPadding = 16;

  BitReader(const char* bytes, std::size_t n, std::uint64_t bit)
      : next_(bytes + bit / 8), begin_(bytes), end_(bytes + n) {
    refill();
    drop(static_cast<unsigned>(bit % 8));
  }

  // At least 56 bits can be looked at afterwards.
  void refill() {
    if (next_ > end_) return;  // the padding has been reached: overrun() will tell
    std::uint64_t word = 0;
    std::memcpy(&word, next_, sizeof word);
    buffer_ |= word << n_bits_;
    next_ += (63 - n_bits_) >> 3;
    n_bits_ |= 56;
  }
  std::uint64_t bits() const { return buffer_; }
  void drop(unsigned n) {
    buffer_ >>= n;
    n_bits_ -= n;
  }
  unsigned take(unsigned n) {
    const auto value = static_cast<unsigned>(buffer_ & ((std::uint64_t{1} << n) - 1));
    drop(n);
    return value;
  }
  std::uint64_t position() const {  // in bits
    return static_cast<std::uint64_t>(next_ - begin_) * 8 - n_bits_;
  }
  bool near_end() const { return next_ > end_; }
  bool overrun() const {
    return n_bits_ > 64 || position() > static_cast<std::uint64_t>(end_ - begin_) * 8;
  }
  void seek_byte(std::uint64_t byte) { *this = BitReader(begin_, size(), byte * 8); }
  const char* byte(std::uint64_t at) const { return begin_ + at; }
  std::size_t size() const { return static_cast<std::size_t>(end_ - begin_); }

 private:
  const char* next_;
  const char* begin_;
  const char* end_;
  std::uint64_t buffer_ = 0;
  unsigned n_bits_ = 0;
};

// Decodes blocks; keeps its tables between them.
class DeflateDecoder {
 public:
  enum class Result {
    more,      // another block follows
    last,      // this was the last of its stream
    short_of,  // the buffer ends within the block
    damaged
  };

  // Decodes one block, header included. On short_of and damaged the output may hold a part of it.
  template <class Symbol>
  Result decode(BitReader& in, Decoded<Symbol>& out);

  // Whether a block with codes of its own, not the last one, can begin here. Of random bits one in
  // many millions passes.
  bool can_begin(BitReader in);

 private:
  static constexpr unsigned kLiteralBits = 11;
  static constexpr unsigned kDistanceBits = 9;
  static constexpr std::size_t kMaxSubtables = 640;  // more than any complete code of 288 takes

  // By the next bits of the stream; see deflate_tables.hpp.
  template <unsigned kRootBits>
  struct Table {
    std::uint32_t entries[(1u << kRootBits) + kMaxSubtables];
    bool build(const std::uint8_t* lengths, int n, bool of_distances);
  };

  bool read_codes(BitReader& in);
  void set_fixed_codes();
  template <class Symbol>
  Result decode_codes(BitReader& reader, Decoded<Symbol>& out) const;
  template <class Symbol>
  static Result copy_stored(BitReader& in, Decoded<Symbol>& out);

  Table<kLiteralBits> literals_;
  Table<kDistanceBits> distances_;
};

}  // namespace biogpu::io::input
