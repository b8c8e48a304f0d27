#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace biogpu::io {

struct SamRecord {
  std::string_view query_name;
  std::uint16_t flag = 0;
  std::int32_t target_id = -1;     // index into the header's targets, -1 for none
  std::int64_t target_begin = -1;  // 0-based
  std::uint8_t mapq = 255;
  std::span<const std::uint32_t> cigar;  // BAM coding: length << 4 | operation of "MIDNSHP=X"
  std::string_view sequence;             // as read; empty: "*"
  std::string_view quality;              // Phred + 33 symbols; empty: "*"
  std::int32_t score = 0;                // AS
  std::int32_t edit_distance = -1;       // NM; -1: no tag
};

// What SEQ holds for the letters of a read. The specification allows letters, '.', and '=', which
// speaks of the reference.
struct SamLetters {
  bool rna = false;  // U is written as T, for htslib reads U as N
  char other = 'N';  // written for every byte that SEQ cannot hold, such as '-' and '*'
};

// Writes SAM, BAM or CRAM, chosen by the suffix of path (SAM for "-" and any other; BGZF for
// ".gz"). Same promise as OutputFile: the final name appears only after commit(). SAM keeps
// letters as SamLetters says; BAM and CRAM hold nucleotide codes in upper case, N for every other
// letter. CRAM stores all residues (no reference) and reads '=' and 'X' of a CIGAR back as 'M'.
// Targets without residues, of which nothing can be said there, are left out of the header.
//
// Errors: Error{bad_input} for a name that SAM cannot hold, two targets of one name, or a target
// too long for BAM; Error{failed} and ClosedPipe as OutputFile.
class SamWriter {
 public:
  // targets: name and length of each @SQ line. program_line: the command line for @PG, empty: none.
  SamWriter(const std::string& path, std::span<const std::pair<std::string, std::uint64_t>> targets,
            const std::string& program_line, int n_threads = 1, const SamLetters& letters = {});
  ~SamWriter();
  SamWriter(SamWriter&&) noexcept;
  SamWriter& operator=(SamWriter&&) noexcept;

  void write(const SamRecord& record);
  void commit();
  std::uint64_t n_records() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace biogpu::io
