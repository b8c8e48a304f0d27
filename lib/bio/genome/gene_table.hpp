#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/bio/genome/indexed_fasta.hpp"
#include "lib/bio/genome/window.hpp"

namespace biogpu::genome {

enum class GeneFormat { bed, gtf };
// GTF is what ends in .gtf or .gtf.gz.
GeneFormat gene_format(const std::string& path);

// Named intervals of a genome: the lines of a BED file, or of GTF ("gene" features, called by
// gene_name or, without one, gene_id), plain or compressed. Lines of GTF of sequences that the
// genome does not have are passed over, unless it has none of them.
//
// Errors: those of BedReader; Error{bad_input} with file and line for GTF that is malformed, and
// for a gene that leaves its sequence; those of LineReader.
class GeneTable {
 public:
  GeneTable(const std::string& path, GeneFormat format, const IndexedFasta& genome);
  // The format by the path's end.
  GeneTable(const std::string& path, const IndexedFasta& genome)
      : GeneTable(path, gene_format(path), genome) {}

  std::size_t size() const { return genes_.size(); }
  // Those with letters in [begin, end) of a contig, by where they begin.
  std::vector<Window> overlapping(std::size_t contig, std::int64_t begin, std::int64_t end) const;

 private:
  void read_gtf(const std::string& path, const IndexedFasta& genome);
  void sort();

  std::vector<Window> genes_;             // by contig and begin
  std::vector<std::int64_t> latest_end_;  // of the genes up to each, of its contig
};

}  // namespace biogpu::genome
