#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/bwt/text/packed_text.hpp"

namespace biogpu::bwt {

// One record of the input.
struct Contig {
  std::string name;
  std::string comment;  // the rest of the header line behind one blank
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  std::uint32_t n_holes = 0;
};

// A run of one letter, or byte, other than A, C, G and T inside one record.
struct Hole {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  char letter = 'N';
};

// All records of a genome, one behind the other without anything between them: case is lost, and
// every letter other than A, C, G and T is replaced by a pseudo-random base that depends only on
// how many such letters came before it.
struct Reference {
  std::vector<Contig> contigs;
  std::vector<Hole> holes;  // ascending by offset
  PackedText text;          // 2 bits: A 0, C 1, G 2, T 3
};

// Reads FASTA or FASTQ, plain, gzip or BGZF, "-" for standard input, by io::SequenceReader and its
// rules, with its errors.
Reference read_reference(const std::string& path, int n_threads);

// The same as kseq, the reader of bwa, reads it, to the letter: bytes before the first '>' or '@'
// are skipped, blanks, digits and any other bytes of a sequence are letters, empty records and
// records without a name are kept, '+' begins a quality. Throws Error{bad_input} where a quality
// does not fit its sequence; bwa stops reading there and says nothing.
Reference read_reference_as_bwa(const std::string& path, int n_threads);

// The generator of the replacing bases: lrand48() & 3 of a generator seeded with 11, of which only
// the lowest bits matter.
class FillerBases {
 public:
  unsigned next() {
    state_ = (state_ * 0x4e66du + 0xbu) & kMask;
    return state_ >> 17;
  }

 private:
  static constexpr std::uint32_t kMask = (1u << 19) - 1;
  std::uint32_t state_ = 0x3330e;
};

}  // namespace biogpu::bwt
