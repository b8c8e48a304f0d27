#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lib/io/output_file.hpp"
#include "lib/kmer/count/count_block.hpp"
#include "lib/kmer/database/header.hpp"

namespace biogpu::kmer {

// biogpu's own database, ".bgk": records in lexicographic order, 256 a block, each block a first
// key and then differences; behind them the first key and the place of each block, so that a
// look-up in the mapped file reads one block. docs/formats/bgk.md has the bytes.
inline constexpr std::string_view kNativeMagic{"BIOGPUK\1", 8};
inline constexpr std::size_t kNativeBlock = 256;           // records
inline constexpr std::size_t kNativeHeaderBytes = 16;      // magic, k, flags
inline constexpr std::size_t kNativeBlockHeaderBytes = 8;  // bytes and records of the block
inline constexpr std::size_t kNativeTrailerBytes = 48;

struct NativeTrailer {
  std::uint64_t n_keys = 0;
  std::uint64_t total = 0;  // of the counts, the largest number where they exceed it
  std::uint64_t n_blocks = 0;
  std::uint64_t index_offset = 0;
  std::uint64_t json_bytes = 0;  // between the index and the trailer
};

class NativeEncoder {
 public:
  explicit NativeEncoder(const Header& header);

  std::string begin() const;
  void write(const CountBlock& block, io::OutputFile& out);
  void finish(io::OutputFile& out);

 private:
  void write_block(io::OutputFile& out);

  const Header& header_;
  CountBlock open_;  // records of a block that is not full
  std::string index_;
  NativeTrailer trailer_;
};

// k and whether k-mers are canonical, of a file's first kNativeHeaderBytes. Throws
// Error{bad_input}.
Header parse_native_header(std::string_view bytes, const std::string& label);

// Adds the records of one block's payload. Throws Error{bad_input} where it is damaged.
void parse_native_block(std::string_view payload, std::size_t n, int k, const std::string& label,
                        CountBlock& block);

NativeTrailer parse_native_trailer(std::string_view bytes, const std::string& label);

// Who made the database, from the JSON before the trailer.
void parse_native_provenance(std::string_view json, Header& header);

// A key as bytes_for(k) bytes, the first base in the highest bits: sorts as bytes do.
void append_key_bytes(const std::uint64_t* key, int k, std::string& out);

}  // namespace biogpu::kmer
