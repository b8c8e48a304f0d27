#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lib/bio/genome/indexed_fasta.hpp"

namespace biogpu::genome {

// Letters [begin, end) of a contig.
struct Span {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  bool operator==(const Span&) const = default;
};

struct AnnotatedGene {
  std::string id;    // as in the file, with its version
  std::string name;  // or empty, as the type
  std::string type;  // "protein_coding"
  char strand = '.';
  std::size_t contig = 0;
  Span body;
};

struct Transcript {
  std::size_t gene = 0;
  Span body;
  std::vector<Span> exons;  // in the order of the file
};

// A gene, and those of its exons that are wanted, which may overlap.
struct GeneExons {
  std::size_t gene = 0;
  std::vector<Span> exons;
};

// The last base of an exon that is followed by an intron (donor), or the first base of one behind
// an intron, on the strand of its gene.
struct AnnotatedSite {
  char strand = '+';
  bool is_donor = true;
  std::int64_t base = 0;

  bool operator==(const AnnotatedSite&) const = default;
};

// gene_id without its version: what is before the first full stop.
std::string_view without_version(std::string_view id);

// Genes with their transcripts and exons, of GTF, plain or compressed: its lines of gene,
// transcript and exon. A gene without a line of its own is what its transcripts span, a transcript
// without one what its exons span. The type is gene_type or gene_biotype. Lines of sequences that
// the genome does not have are passed over, unless it has none of them; lines of other features
// are not looked at but for their columns.
//
// Errors: Error{bad_input} with file and line for what is malformed, for a second line of a gene or
// transcript, for what leaves its sequence, and for a file without genes; those of LineReader.
class GeneAnnotation {
 public:
  GeneAnnotation(const std::string& path, const IndexedFasta& genome);

  const std::vector<AnnotatedGene>& genes() const { return genes_; }  // in the order of the file
  const std::vector<Transcript>& transcripts() const { return transcripts_; }
  std::uint64_t n_lines_elsewhere() const { return n_lines_elsewhere_; }

  // Genes with letters in [begin, end) of a contig, in the order of the file.
  std::vector<std::size_t> overlapping(std::size_t contig, std::int64_t begin,
                                       std::int64_t end) const;
  // Genes of which a transcript starts in [begin, end) of a contig, with the exons of these
  // transcripts, in the order of the first of them. On the - strand a transcript starts at the end
  // of its last letter, as GENCODE's tables of DeepMind have it.
  std::vector<GeneExons> starting_in(std::size_t contig, std::int64_t begin,
                                     std::int64_t end) const;
  // Ends of the introns of all transcripts that lie in [begin, end) of a contig; of genes without a
  // strand none. Some are there several times.
  std::vector<AnnotatedSite> splice_sites(std::size_t contig, std::int64_t begin,
                                          std::int64_t end) const;

 private:
  class Reader;

  std::vector<AnnotatedGene> genes_;
  std::vector<Transcript> transcripts_;
  std::vector<std::vector<std::size_t>> genes_of_contig_;
  std::vector<std::vector<std::size_t>> transcripts_of_contig_;
  std::uint64_t n_lines_elsewhere_ = 0;
};

}  // namespace biogpu::genome
