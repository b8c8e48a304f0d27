#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "lib/io/input/block_source.hpp"
#include "lib/io/input/deflate.hpp"
#include "lib/io/input/raw_file.hpp"

namespace biogpu::io::input {

// Gzip of one or more members, cut into pieces that are inflated in parallel. In each piece but the
// first the begin of a deflate block is searched for, and what follows is decoded with the 32 KiB
// of text before it left open; then, in the order of the file, each piece learns where the one
// before it ended and with what text. A begin that turns out wrong is decoded again, so that only
// time depends on the search. Checksums are checked as in GzipProducer, with the same errors.
// Source: Kerbiriou and Chikhi, doi:10.1109/IPDPSW.2019.00042.
class ParallelGzipProducer : public BlockProducer {
 public:
  // The file must be a regular one, of which nothing has been read; piece_bytes of it are a piece.
  explicit ParallelGzipProducer(RawFile& file, std::size_t piece_bytes = 512u << 10);
  ~ParallelGzipProducer() override;

  bool take(Block& block) override;
  void finish(Block& block) override;

 private:
  struct Piece;
  class Input;
  enum class Stop { boundary, file_end, cut_short, damaged, bad_header, not_gzip, too_long };

  // The state of the stream between two pieces.
  struct Boundary {
    std::uint64_t bit = 0;      // of the file, where a block begins
    bool at_end = false;        // of the last member
    std::uint64_t n_known = 0;  // bytes of the member so far
    std::string window;         // the last bytes decoded, up to 32 KiB
  };

  template <class Symbol>
  static Stop decode_until(Piece& piece, Input& input, std::uint64_t& bit, std::uint64_t stop_bit,
                           Decoded<Symbol>& out);
  static void guess(Piece& piece, Input& input);
  static bool guess_from(Piece& piece, Input& input, std::uint64_t bit);
  void join(Piece& piece, Input& input);
  void write_text(const Piece& piece, CharBuffer& text) const;
  void check_members(const Piece& piece, std::string_view text);
  template <class Function>
  void in_turn(std::uint64_t turn, std::uint64_t& next, Function&& function);
  [[noreturn]] void fail(Stop stop) const;

  RawFile& file_;
  const std::size_t piece_bytes_;
  std::uint64_t n_taken_ = 0;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t broken_ = UINT64_MAX;  // the first piece that failed: those behind have no begin
  std::uint64_t next_join_ = 0;        // the piece whose turn it is
  std::uint64_t next_check_ = 0;
  Boundary boundary_;           // of the piece whose turn it is
  std::uint32_t crc_ = 0;       // of the member so far
  std::uint32_t n_member_ = 0;  // its bytes, modulo 2^32
};

}  // namespace biogpu::io::input
