#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/bio/genome/indexed_fasta.hpp"
#include "lib/bio/genome/window.hpp"

namespace biogpu::genome {

enum class GeneFormat { bed, gtf };
// GTF is what ends in .gtf or .gtf.gz, in any case. Throws Error{usage} for GFF3.
GeneFormat gene_format(const std::string& path);

// Named intervals of a genome: the lines of a BED file, or of GTF, plain or compressed.
//
// GTF: a gene is its "gene" line or, where its gene_id has none on its strand of its sequence, what
// its other lines span. Lines of sequences that the genome does not have are passed over, unless it
// has none of them. A gene is called by gene_name or, without one or where several genes have it,
// by gene_id. What has the name of another one still, in BED too, gets its place behind its name:
// "NAME(CHROM:START-END)", with BED's numbers.
//
// Errors: those of BedReader; Error{bad_input} with file and line for GTF that is malformed, for a
// gene that leaves its sequence, and for GTF without genes; those of LineReader.
class GeneTable {
 public:
  GeneTable(const std::string& path, GeneFormat format, const IndexedFasta& genome);
  // The format by the path's end.
  GeneTable(const std::string& path, const IndexedFasta& genome)
      : GeneTable(path, gene_format(path), genome) {}

  std::size_t size() const { return genes_.size(); }
  // Genes of GTF without a line of their own, and lines of sequences that the genome does not have.
  std::size_t n_spanned() const { return n_spanned_; }
  std::uint64_t n_lines_elsewhere() const { return n_lines_elsewhere_; }
  // Those with letters in [begin, end) of a contig, by where they begin.
  std::vector<Window> overlapping(std::size_t contig, std::int64_t begin, std::int64_t end) const;

 private:
  void read_gtf(const std::string& path, const IndexedFasta& genome);
  void name_apart(const IndexedFasta& genome);
  void sort();

  std::size_t n_spanned_ = 0;
  std::uint64_t n_lines_elsewhere_ = 0;
  std::vector<Window> genes_;             // by contig and begin
  std::vector<std::int64_t> latest_end_;  // of the genes up to each, of its contig
};

}  // namespace biogpu::genome
