#pragma once

#include <string>

#include "lib/bio/genome/indexed_fasta.hpp"
#include "lib/bio/genome/window.hpp"
#include "lib/io/line_reader.hpp"

namespace biogpu::genome {

// The intervals of a BED file, plain or compressed, or of standard input ("-"), in its order.
// Columns are separated by tabs or, in a line without one, by blanks; the first three count, and
// the fourth, the name, is the key. Where it is missing or '.', the key is CHROM:START-END with the
// file's numbers. Blank lines, comments and lines of 'track' and 'browser' are passed over.
//
// Errors: Error{bad_input} with file and line for what is malformed, for a chromosome that the
// genome does not have, and for an interval that leaves its chromosome; those of LineReader.
class BedReader {
 public:
  // The genome must outlive the reader.
  BedReader(const std::string& path, const IndexedFasta& genome);

  // False at the end of the file.
  bool next(Window& window);
  // Goes to the next interval without looking at what it holds. False at the end of the file.
  bool pass();
  // The interval that pass() went to. Errors of it alone: the next ones can be read after them.
  Window interval() const;
  // Its place, "regions.bed: line 3", for errors.
  std::string place() const;

 private:
  const IndexedFasta& genome_;
  io::LineReader lines_;
  std::string line_;
};

}  // namespace biogpu::genome
