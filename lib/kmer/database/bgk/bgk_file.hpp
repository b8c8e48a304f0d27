#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lib/io/output_file.hpp"
#include "lib/kmer/database/header.hpp"
#include "lib/kmer/key/count_block.hpp"

namespace biogpu::kmer {

// biogpu's own database, ".bgk": records in lexicographic order, 256 a block, each block a first
// key and then differences; behind them the first key and the place of each block, so that a
// look-up in the mapped file reads one block. docs/formats/bgk.md has the bytes.
inline constexpr std::string_view kBgkMagic{"BIOGPUK\2", 8};
inline constexpr std::string_view kBgkMagic1{"BIOGPUK\1", 8};  // without checksums
inline constexpr std::size_t kBgkBlock = 256;                  // records
inline constexpr std::size_t kBgkHeaderBytes = 16;             // magic, k, flags
inline constexpr std::size_t kMaxBgkJson = 16u << 20;

// What the version of a file decides.
struct BgkLayout {
  bool has_checksums = true;

  // Bytes, records and checksum of a block.
  std::size_t block_header_bytes() const { return has_checksums ? 12 : 8; }
  std::size_t trailer_bytes() const { return has_checksums ? 56 : 48; }
  std::string_view magic() const { return has_checksums ? kBgkMagic : kBgkMagic1; }
};

struct BgkTrailer {
  std::uint64_t n_keys = 0;
  std::uint64_t total = 0;  // of the counts, the largest number where they exceed it
  std::uint64_t n_blocks = 0;
  std::uint64_t index_offset = 0;
  std::uint64_t json_bytes = 0;  // between the index and the trailer
  std::uint32_t index_sum = 0;   // CRC-32 of the index
  std::uint32_t sum = 0;         // CRC-32 of head, provenance and what stands above
};

struct BgkBlockHead {
  std::uint32_t n_bytes = 0;
  std::uint32_t n_keys = 0;
  std::uint32_t sum = 0;  // CRC-32 of the two above and the payload
};

class BgkEncoder {
 public:
  explicit BgkEncoder(const Header& header);

  std::string begin() const;
  void write(const CountBlock& block, io::OutputFile& out);
  void finish(io::OutputFile& out);

 private:
  void write_block(io::OutputFile& out);

  const Header& header_;
  CountBlock open_;  // records of a block that is not full
  std::string index_;
  BgkTrailer trailer_;
};

// All that parse throw Error{bad_input} that begins with label where the bytes are damaged.

// Of a file that begins so.
BgkLayout bgk_layout(std::string_view head);
// k and whether k-mers are canonical, of a file's first kBgkHeaderBytes.
Header parse_bgk_header(std::string_view bytes, const std::string& label);
// bytes: layout.block_header_bytes(). A block of no records ends the blocks.
BgkBlockHead parse_bgk_block_head(std::string_view bytes, const BgkLayout& layout,
                                  const std::string& label);
// Adds the records of one block's payload.
void parse_bgk_block(std::string_view payload, const BgkBlockHead& head, const BgkLayout& layout,
                     int k, const std::string& label, CountBlock& block);
// head and json: what the checksum covers besides the trailer. The numbers are not yet
// compared with anything.
BgkTrailer parse_bgk_trailer(std::string_view bytes, const BgkLayout& layout,
                             const std::string& label);
void check_bgk_sum(const BgkTrailer& trailer, const BgkLayout& layout, std::string_view head,
                   std::string_view json, const std::string& label);
// Who made the database, from the JSON before the trailer.
void parse_bgk_provenance(std::string_view json, const std::string& label, Header& header);

// The checksum that head, provenance and the trailer's numbers have.
std::uint32_t bgk_sum(const BgkTrailer& trailer, std::string_view head, std::string_view json);
std::uint32_t bgk_block_sum(std::uint32_t n_bytes, std::uint32_t n_keys, std::string_view payload);

// A key as bytes_for(k) bytes, the first base in the highest bits: sorts as bytes do.
void append_key_bytes(const std::uint64_t* key, int k, std::string& out);
// An entry of the index: the first key of a block and its offset in the file.
void append_index_entry(const std::uint64_t* key, int k, std::uint64_t offset, std::string& out);

template <class Integer>
void append_integer(Integer value, std::string& out) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace biogpu::kmer
