#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace biogpu::genome {

// Where the letters of a sequence lie: in lines of line_letters, each taking line_bytes.
struct FaiEntry {
  std::string name;
  std::uint64_t length = 0;  // letters
  std::uint64_t offset = 0;  // of the first, in the text
  std::uint64_t line_letters = 0, line_bytes = 0;

  std::uint64_t offset_of(std::uint64_t letter) const {
    return offset + letter / line_letters * line_bytes + letter % line_letters;
  }
};

// Where a BGZF block begins, in the file and in its text.
struct BgzfBlock {
  std::uint64_t packed = 0;
  std::uint64_t text = 0;
};

inline constexpr std::uint64_t kMaxLineEnd = 16;  // bytes of a line behind its letters

// Reads FASTA, plain or compressed by bgzip. Throws Error{bad_input} with file, record and line
// where it cannot have an index: a line of a sequence that is not its last is longer or shorter
// than its first, a sequence has no name, or two have the same. mark_bytes: of a byte order mark in
// front of the text, which counts in offsets.
std::vector<FaiEntry> build_fai(const std::string& path, std::uint64_t mark_bytes);

// The blocks of a file that bgzip made, the last without text left out. Throws Error{bad_input}
// where it is damaged.
std::vector<BgzfBlock> build_gzi(const std::string& path);

}  // namespace biogpu::genome
