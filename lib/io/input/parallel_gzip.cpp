#include "lib/io/input/parallel_gzip.hpp"

#include <fmt/format.h>
#include <isa-l/crc.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <vector>

#include "lib/core/error.hpp"

namespace biogpu::io::input {
namespace {

constexpr std::size_t kMoreBytes = 128u << 10;  // a block or two: pieces end within one
// What a guess may decode to: bounds memory where the text is one letter again and again.
constexpr std::size_t kMaxSymbols = 16u << 20;

struct MemberEnd {
  std::size_t at = 0;  // in the text of its part
  std::uint32_t crc = 0;
  std::uint32_t size = 0;
};

// Whether the first n of these bits may begin a block with codes of its own that is not the last:
// its kind, then its numbers of codes.
constexpr bool may_begin(unsigned bits, int n) {
  constexpr unsigned kKind = 4;
  const unsigned n_kind = n < 3 ? (1u << n) - 1 : 7;
  return (bits & n_kind) == (kKind & n_kind) && (n < 8 || (bits >> 3 & 31) <= 29) &&
         (n < 13 || (bits >> 8 & 31) <= 29);
}

// By 13 bits: how many to pass over until the rest may begin a block.
constexpr int kSkipBits = 13;
constexpr auto kSkip = [] {
  std::array<std::uint8_t, 1u << kSkipBits> skip{};
  for (unsigned bits = 0; bits < skip.size(); ++bits) {
    int n = 0;
    while (n < kSkipBits && !may_begin(bits >> n, kSkipBits - n)) ++n;
    skip[bits] = static_cast<std::uint8_t>(n);
  }
  return skip;
}();

// Whether the code of the lengths that such a block begins with is complete.
bool has_length_code(std::uint64_t bits, std::uint64_t from_17) {
  const int n = static_cast<int>(bits >> 13 & 15) + 4;
  unsigned used = 0;
  for (int i = 0; i < n; ++i, from_17 >>= 3) used += (from_17 & 7) == 0 ? 0 : 128u >> (from_17 & 7);
  return used == 128;
}

}  // namespace

// The compressed bytes from the begin of a piece on, as far as they have been needed.
class ParallelGzipProducer::Input {
 public:
  Input(RawFile& file, CharBuffer& bytes, std::uint64_t begin)
      : file_(file), bytes_(bytes), begin_(begin), size_(bytes.size()) {
    pad();
  }

  // False at the end of the file.
  bool extend() {
    bytes_.resize(size_ + kMoreBytes + BitReader::kPadding);
    for (;;) {
      const ssize_t got = pread(file_.descriptor(), bytes_.data() + size_, kMoreBytes,
                                static_cast<off_t>(begin_ + size_));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0)
        throw Error(ErrorCode::failed, fmt::format("{}: cannot be read: {}", file_.label(),
                                                   std::generic_category().message(errno)));
      if (got == 0) file_.check_end(begin_ + size_);
      size_ += static_cast<std::size_t>(got);
      pad();
      return got > 0;
    }
  }

  // -1 at the end of the file.
  int byte(std::uint64_t at) {
    while (at >= begin_ + size_)
      if (!extend()) return -1;
    return static_cast<unsigned char>(bytes_.data()[at - begin_]);
  }
  // Bytes least significant first; -1 where the file ends.
  std::int64_t number(std::uint64_t at, int n_bytes) {
    std::int64_t value = 0;
    for (int i = n_bytes; i-- > 0;) {
      const int next = byte(at + static_cast<std::uint64_t>(i));
      if (next < 0) return -1;
      value = value << 8 | next;
    }
    return value;
  }

  BitReader reader(std::uint64_t bit) const { return {bytes_.data(), size_, bit - 8 * begin_}; }
  std::uint64_t bits_at(std::uint64_t bit) const {  // 57 at least
    std::uint64_t word = 0;
    std::memcpy(&word, bytes_.data() + (bit / 8 - begin_), sizeof word);
    return word >> bit % 8;
  }
  std::uint64_t begin() const { return begin_; }

  // Moves `at` behind the header of the member that begins there. file_end: none does.
  Stop skip_header(std::uint64_t& at) {
    const bool padded = byte(at) == 0;
    while (byte(at) == 0) ++at;
    if (byte(at) < 0) return Stop::file_end;
    if (padded || byte(at) != 0x1f) return Stop::not_gzip;
    const std::int64_t head = number(at, 4);
    if (head < 0) return Stop::cut_short;
    const auto flags = static_cast<unsigned>(head >> 24);
    if ((head & 0xffffff) != 0x088b1f || (flags & 0xe0) != 0) return Stop::bad_header;
    at += 10;
    if ((flags & 4) != 0) {
      const std::int64_t extra = number(at, 2);
      if (extra < 0) return Stop::cut_short;
      at += 2 + static_cast<std::uint64_t>(extra);
    }
    for (const unsigned text : {8u, 16u}) {  // a name, a comment
      if ((flags & text) == 0) continue;
      while (byte(at) > 0) ++at;
      ++at;
    }
    if ((flags & 2) != 0) at += 2;
    return byte(at) < 0 ? Stop::cut_short : Stop::boundary;
  }

 private:
  void pad() {
    bytes_.resize(size_ + BitReader::kPadding);
    std::memset(bytes_.data() + size_, 0, BitReader::kPadding);
  }

  RawFile& file_;
  CharBuffer& bytes_;
  const std::uint64_t begin_;
  std::size_t size_;
};

// What a worker holds of a piece; buffers are kept for the next one.
struct ParallelGzipProducer::Piece {
  std::uint64_t number = 0;
  std::uint64_t end_bit = 0;  // of the file; whatever block begins before it is the piece's
  DeflateDecoder decoder;
  std::vector<MemberEnd> ends;  // of the part being decoded

  // Decoded behind a known window: what the search passed over, or all.
  Decoded<std::uint8_t> known;
  std::vector<MemberEnd> known_ends;
  // Decoded from the block that was found.
  bool guessed = false;
  std::uint64_t guess_begin = 0;
  std::uint64_t guess_end = 0;
  bool guess_at_end = false;
  Decoded<std::uint16_t> guess;
  std::vector<MemberEnd> guess_ends;

  // The 32 KiB before the guess.
  std::uint8_t* window() { return known.data() + known.size() - kDeflateWindow; }
  const std::uint8_t* window() const { return const_cast<Piece*>(this)->window(); }
};

ParallelGzipProducer::ParallelGzipProducer(RawFile& file, std::size_t piece_bytes)
    : file_(file), piece_bytes_(piece_bytes) {}

ParallelGzipProducer::~ParallelGzipProducer() = default;

bool ParallelGzipProducer::take(Block& block) {
  block.packed.resize(piece_bytes_ + BitReader::kPadding);
  const std::size_t got = file_.read(block.packed.data(), piece_bytes_);
  block.packed.resize(got);
  if (got == 0) return false;
  if (!block.tool) block.tool = std::make_shared<Piece>();
  auto& piece = *static_cast<Piece*>(block.tool.get());
  piece.number = n_taken_++;
  piece.end_bit = 8 * (piece.number * piece_bytes_ + got);
  return true;
}

void ParallelGzipProducer::finish(Block& block) {
  auto& piece = *static_cast<Piece*>(block.tool.get());
  Input input(file_, block.packed, piece.number * piece_bytes_);
  try {
    guess(piece, input);
    in_turn(piece.number, next_join_, [&] { join(piece, input); });
    write_text(piece, block.text);
    in_turn(piece.number, next_check_, [&] { check_members(piece, block.text.view()); });
  } catch (...) {
    const std::lock_guard lock(mutex_);
    broken_ = std::min(broken_, piece.number);
    changed_.notify_all();
    throw;
  }
}

// Pieces were taken in order, so that the one waited for is being worked on.
template <class Function>
void ParallelGzipProducer::in_turn(std::uint64_t turn, std::uint64_t& next, Function&& function) {
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return next == turn || turn > broken_; });
    if (turn > broken_) fail(Stop::damaged);  // nobody sees it: the piece that failed comes first
  }
  function();
  const std::lock_guard lock(mutex_);
  ++next;
  changed_.notify_all();
}

// Decodes whole blocks, and whole ends of members, until one ends at or behind stop_bit.
template <class Symbol>
ParallelGzipProducer::Stop ParallelGzipProducer::decode_until(Piece& piece, Input& input,
                                                              std::uint64_t& bit,
                                                              std::uint64_t stop_bit,
                                                              Decoded<Symbol>& out) {
  while (bit < stop_bit) {
    BitReader in = input.reader(bit);
    const std::size_t size = out.size();
    const DeflateDecoder::Result result = piece.decoder.decode(in, out);
    if (result == DeflateDecoder::Result::damaged) return Stop::damaged;
    if (result == DeflateDecoder::Result::short_of) {
      out.set_size(size);
      if (!input.extend()) return Stop::cut_short;
      continue;
    }
    bit = 8 * input.begin() + in.position();
    if (std::is_same_v<Symbol, std::uint16_t> && out.n_text() > kMaxSymbols) return Stop::too_long;
    if (result == DeflateDecoder::Result::more) continue;
    std::uint64_t at = (bit + 7) / 8;
    const std::int64_t crc = input.number(at, 4);
    const std::int64_t n_bytes = input.number(at + 4, 4);
    if (crc < 0 || n_bytes < 0) return Stop::cut_short;
    piece.ends.push_back(
        {out.n_text(), static_cast<std::uint32_t>(crc), static_cast<std::uint32_t>(n_bytes)});
    at += 8;
    const Stop header = input.skip_header(at);
    bit = 8 * at;
    if (header != Stop::boundary) return header;
    out.forget();
  }
  return Stop::boundary;
}

// Searches the piece for a block that can be decoded from, up to the piece's end.
void ParallelGzipProducer::guess(Piece& piece, Input& input) {
  piece.guessed = false;
  if (piece.number == 0) return;
  for (std::uint64_t bit = 8 * input.begin(); bit < piece.end_bit;) {
    const std::uint64_t bits = input.bits_at(bit);
    const std::uint8_t skip = kSkip[bits & (kSkip.size() - 1)];
    bit += skip;
    if (skip > 0) continue;
    if (has_length_code(bits, input.bits_at(bit + 17)) &&
        piece.decoder.can_begin(input.reader(bit)) && guess_from(piece, input, bit))
      return;
    ++bit;
  }
}

bool ParallelGzipProducer::guess_from(Piece& piece, Input& input, std::uint64_t bit) {
  piece.guess.start(kDeflateWindow);
  for (std::size_t i = 0; i < kDeflateWindow; ++i)
    piece.guess.data()[i] = static_cast<std::uint16_t>(kMarker + i);
  piece.guess_begin = bit;
  piece.ends.clear();
  const Stop stop = decode_until(piece, input, bit, piece.end_bit, piece.guess);
  piece.guess_end = bit;
  piece.guess_at_end = stop == Stop::file_end;
  std::swap(piece.guess_ends, piece.ends);
  piece.guessed = stop == Stop::boundary || stop == Stop::file_end;
  return piece.guessed;
}

// Links the piece to the one before it: decodes what lies between that one's end and the guess, or
// everything where the guess was wrong, and leaves the boundary to the next.
void ParallelGzipProducer::join(Piece& piece, Input& input) {
  Boundary& boundary = boundary_;
  const std::size_t n_window = boundary.window.size();
  piece.known.start(std::min<std::uint64_t>(boundary.n_known, kDeflateWindow));
  std::memset(piece.known.data(), 0, kDeflateWindow);
  std::memcpy(piece.known.data() + kDeflateWindow - n_window, boundary.window.data(), n_window);
  piece.ends.clear();
  Stop stop = Stop::boundary;
  if (piece.number == 0) {
    std::uint64_t at = 0;
    stop = input.skip_header(at);
    boundary.bit = 8 * at;
  }
  if (boundary.at_end || boundary.bit > piece.guess_begin) piece.guessed = false;
  if (!boundary.at_end && stop == Stop::boundary) {
    if (piece.guessed)
      stop = decode_until(piece, input, boundary.bit, piece.guess_begin, piece.known);
    piece.guessed = piece.guessed && stop == Stop::boundary && boundary.bit == piece.guess_begin;
    if (!piece.guessed && stop == Stop::boundary)
      stop = decode_until(piece, input, boundary.bit, piece.end_bit, piece.known);
    if (stop != Stop::boundary && stop != Stop::file_end) fail(stop);
    boundary.at_end = stop == Stop::file_end;
  } else if (stop != Stop::boundary) {
    fail(stop);
  }
  std::swap(piece.known_ends, piece.ends);
  boundary.n_known = boundary.n_known + piece.known.n_text();
  if (!piece.known_ends.empty())
    boundary.n_known = piece.known.n_text() - piece.known_ends.back().at;
  const auto* window = reinterpret_cast<const char*>(piece.window());
  boundary.window.assign(window, kDeflateWindow);
  if (!piece.guessed) return;
  // What the guess refers to must be there.
  const std::size_t n_unknown =
      kDeflateWindow - std::min<std::uint64_t>(boundary.n_known, kDeflateWindow);
  const std::uint16_t* symbols = piece.guess.text();
  const std::size_t n = piece.guess.n_text();
  if (n_unknown > 0 && std::any_of(symbols, symbols + n, [&](std::uint16_t symbol) {
        return symbol >= kMarker && symbol < kMarker + n_unknown;
      }))
    fail(Stop::damaged);
  boundary.bit = piece.guess_end;
  boundary.at_end = piece.guess_at_end;
  boundary.n_known =
      piece.guess_ends.empty() ? boundary.n_known + n : n - piece.guess_ends.back().at;
  const std::size_t n_last = std::min(n, kDeflateWindow);
  boundary.window.erase(0, n_last);
  for (std::size_t i = n - n_last; i < n; ++i)
    boundary.window +=
        static_cast<char>(symbols[i] < kMarker ? symbols[i] : piece.window()[symbols[i] - kMarker]);
}

void ParallelGzipProducer::write_text(const Piece& piece, CharBuffer& text) const {
  const std::size_t n_known = piece.known.n_text();
  const std::size_t n_guess = piece.guessed ? piece.guess.n_text() : 0;
  text.resize(n_known + n_guess);
  std::copy_n(piece.known.text(), n_known, text.data());
  // One look-up for bytes and markers alike.
  std::vector<char> meaning(kMarker + kDeflateWindow);
  for (std::size_t i = 0; i < kMarker; ++i) meaning[i] = static_cast<char>(i);
  std::copy_n(piece.window(), kDeflateWindow, meaning.begin() + kMarker);
  const std::uint16_t* symbols = piece.guess.text();
  char* to = text.data() + n_known;
  for (std::size_t i = 0; i < n_guess; ++i) to[i] = meaning[symbols[i]];
}

void ParallelGzipProducer::check_members(const Piece& piece, std::string_view text) {
  std::size_t at = 0;
  const auto add = [&](std::size_t end) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(text.data() + at);
    crc_ = crc32_gzip_refl(crc_, bytes, end - at);
    n_member_ += static_cast<std::uint32_t>(end - at);
    at = end;
  };
  const auto check = [&](const MemberEnd& end, std::size_t part_begin) {
    add(part_begin + end.at);
    if (crc_ != end.crc || n_member_ != end.size)
      throw Error(
          ErrorCode::bad_input,
          fmt::format("{}: the checksum of a gzip member does not match its text", file_.label()));
    crc_ = 0;
    n_member_ = 0;
  };
  for (const MemberEnd& end : piece.known_ends) check(end, 0);
  if (piece.guessed)
    for (const MemberEnd& end : piece.guess_ends) check(end, piece.known.n_text());
  add(text.size());
}

void ParallelGzipProducer::fail(Stop stop) const {
  const char* what = "the compressed data are damaged";
  if (stop == Stop::cut_short) what = "ends inside a gzip member; the file may be cut short";
  if (stop == Stop::bad_header) what = "a gzip header is damaged";
  if (stop == Stop::not_gzip) what = "data that are not gzip follow the last gzip member";
  throw Error(ErrorCode::bad_input, fmt::format("{}: {}", file_.label(), what));
}

}  // namespace biogpu::io::input
