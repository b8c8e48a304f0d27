#include "lib/bio/genome/genes/gene_annotation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "lib/bio/genome/genes/gtf_fields.hpp"
#include "lib/bio/split.hpp"
#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"
#include "lib/io/line_reader.hpp"

namespace biogpu::genome {
namespace {

constexpr std::size_t kAnnotationColumns = 9;

void extend_span(Span& span, const Span& by) {
  span = {std::min(span.begin, by.begin), std::max(span.end, by.end)};
}

// The first of two attributes that is there.
std::string first_attribute(std::string_view attributes, std::string_view key,
                            std::string_view other) {
  const std::string_view value = find_gtf_attribute(attributes, key);
  return std::string(value.empty() ? find_gtf_attribute(attributes, other) : value);
}

}  // namespace

// Lines in any order become genes and transcripts.
class GeneAnnotation::Reader {
 public:
  Reader(GeneAnnotation& annotation, const std::string& path, const IndexedFasta& genome)
      : to_(annotation), genome_(genome), lines_(path, "a GTF file") {}

  void read();

 private:
  struct Line {
    std::string_view feature, attributes;
    std::string_view gene_id, transcript_id;
    std::size_t contig = 0;
    Span span;
    char strand = '.';
  };
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorCode::bad_input,
                fmt::format("{}: line {}: {}", lines_.label(), lines_.number(), what));
  }
  bool parse(const std::string& text, Line& line);
  std::size_t find_gene(const Line& line);
  std::size_t find_transcript(const Line& line, std::size_t gene);
  void add_gene(const Line& line);
  void add_transcript(const Line& line);
  void add_exon(const Line& line);
  // Whether the body is the line's; else what it spans.
  static void take_body(Span& body, bool has_line, bool is_new, const Span& span) {
    if (is_new)
      body = span;
    else if (!has_line)
      extend_span(body, span);
  }

  GeneAnnotation& to_;
  const IndexedFasta& genome_;
  io::LineReader lines_;
  std::string unknown_;  // the first sequence that the genome does not have
  // By gene_id, contig and strand.
  std::map<std::tuple<std::string, std::size_t, char>, std::size_t, std::less<>> gene_of_;
  std::vector<std::unordered_map<std::string, std::size_t>> transcript_of_;  // of each gene
  std::vector<bool> gene_has_line_, transcript_has_line_;
};

// False where the line is of no gene that is looked at.
bool GeneAnnotation::Reader::parse(const std::string& text, Line& line) {
  if (text.empty() || text.front() == '#') return false;
  const std::vector<std::string_view> fields = split(text, '\t');
  if (fields.size() != kAnnotationColumns)
    fail(fmt::format("{} columns; expected the 9 of GTF", fields.size()));
  line.feature = fields[2];
  if (line.feature != "gene" && line.feature != "transcript" && line.feature != "exon")
    return false;
  line.attributes = fields[8];
  line.gene_id = find_gtf_attribute(line.attributes, "gene_id");
  line.transcript_id = find_gtf_attribute(line.attributes, "transcript_id");
  if (line.gene_id.empty()) fail(fmt::format("{} line without gene_id", line.feature));
  if (line.feature != "gene" && line.transcript_id.empty())
    fail(fmt::format("{} line without transcript_id", line.feature));
  const auto begin = parse_gtf_position(fields[3]), end = parse_gtf_position(fields[4]);
  if (!begin || !end || *begin > *end)
    fail(fmt::format("malformed {}; expected start and end, from 1", line.feature));
  line.span = {*begin - 1, *end};
  if (fields[6] != "+" && fields[6] != "-" && fields[6] != ".")
    fail(fmt::format("strand {}; expected +, - or .", quoted(fields[6])));
  line.strand = fields[6].front();
  const auto contig = genome_.find(fields[0]);
  if (!contig) {
    if (unknown_.empty()) unknown_ = fields[0];
    ++to_.n_lines_elsewhere_;
    return false;
  }
  line.contig = *contig;
  const Contig& sequence = genome_.contigs()[*contig];
  if (static_cast<std::uint64_t>(*end) > sequence.length)
    fail(fmt::format("ends at {}; {} has {} letters in {}", *end, quoted(sequence.name),
                     sequence.length, genome_.path()));
  return true;
}

std::size_t GeneAnnotation::Reader::find_gene(const Line& line) {
  const auto [found, is_new] = gene_of_.try_emplace(
      {std::string(line.gene_id), line.contig, line.strand}, to_.genes_.size());
  const std::size_t gene = found->second;
  if (is_new) {
    to_.genes_.push_back({std::string(line.gene_id), {}, {}, line.strand, line.contig, {}});
    gene_has_line_.push_back(false);
    transcript_of_.emplace_back();
  }
  AnnotatedGene& known = to_.genes_[gene];
  take_body(known.body, gene_has_line_[gene], is_new, line.span);
  if (known.name.empty()) known.name = first_attribute(line.attributes, "gene_name", "gene");
  if (known.type.empty())
    known.type = first_attribute(line.attributes, "gene_type", "gene_biotype");
  return gene;
}

std::size_t GeneAnnotation::Reader::find_transcript(const Line& line, std::size_t gene) {
  const auto [found, is_new] =
      transcript_of_[gene].try_emplace(std::string(line.transcript_id), to_.transcripts_.size());
  const std::size_t transcript = found->second;
  if (is_new) {
    to_.transcripts_.push_back({gene, {}, {}});
    transcript_has_line_.push_back(false);
  }
  take_body(to_.transcripts_[transcript].body, transcript_has_line_[transcript], is_new, line.span);
  return transcript;
}

void GeneAnnotation::Reader::add_gene(const Line& line) {
  const std::size_t gene = find_gene(line);
  if (gene_has_line_[gene]) fail(fmt::format("a second line of the gene {}", quoted(line.gene_id)));
  gene_has_line_[gene] = true;
  to_.genes_[gene].body = line.span;
}

void GeneAnnotation::Reader::add_transcript(const Line& line) {
  const std::size_t transcript = find_transcript(line, find_gene(line));
  if (transcript_has_line_[transcript])
    fail(fmt::format("a second line of the transcript {}", quoted(line.transcript_id)));
  transcript_has_line_[transcript] = true;
  to_.transcripts_[transcript].body = line.span;
}

void GeneAnnotation::Reader::add_exon(const Line& line) {
  to_.transcripts_[find_transcript(line, find_gene(line))].exons.push_back(line.span);
}

void GeneAnnotation::Reader::read() {
  Line line;
  for (std::string text; lines_.next(text);) {
    if (!parse(text, line)) continue;
    if (line.feature == "gene")
      add_gene(line);
    else if (line.feature == "transcript")
      add_transcript(line);
    else
      add_exon(line);
  }
  if (!to_.genes_.empty()) return;
  throw Error(
      ErrorCode::bad_input,
      fmt::format("{}: {}", lines_.label(),
                  unknown_.empty() ? "has no gene; expected lines of gene, transcript and exon"
                                   : genome_.describe_missing(unknown_)));
}

std::string_view without_version(std::string_view id) { return id.substr(0, id.find('.')); }

GeneAnnotation::GeneAnnotation(const std::string& path, const IndexedFasta& genome)
    : genes_of_contig_(genome.contigs().size()), transcripts_of_contig_(genome.contigs().size()) {
  Reader(*this, path, genome).read();
  for (std::size_t i = 0; i < genes_.size(); ++i) genes_of_contig_[genes_[i].contig].push_back(i);
  for (std::size_t i = 0; i < transcripts_.size(); ++i)
    transcripts_of_contig_[genes_[transcripts_[i].gene].contig].push_back(i);
}

std::vector<std::size_t> GeneAnnotation::overlapping(std::size_t contig, std::int64_t begin,
                                                     std::int64_t end) const {
  std::vector<std::size_t> found;
  for (const std::size_t gene : genes_of_contig_[contig]) {
    const Span& body = genes_[gene].body;
    if (body.end > begin && body.begin < end) found.push_back(gene);
  }
  return found;
}

std::vector<GeneExons> GeneAnnotation::starting_in(std::size_t contig, std::int64_t begin,
                                                   std::int64_t end) const {
  std::vector<GeneExons> found;
  std::unordered_map<std::size_t, std::size_t> place;  // of a gene in found
  for (const std::size_t i : transcripts_of_contig_[contig]) {
    const Transcript& transcript = transcripts_[i];
    const bool is_reverse = genes_[transcript.gene].strand == '-';
    const std::int64_t start = is_reverse ? transcript.body.end : transcript.body.begin;
    if (start < begin || start >= end) continue;
    const auto [known, is_new] = place.try_emplace(transcript.gene, found.size());
    if (is_new) found.push_back({transcript.gene, {}});
    std::vector<Span>& exons = found[known->second].exons;
    exons.insert(exons.end(), transcript.exons.begin(), transcript.exons.end());
  }
  return found;
}

std::vector<AnnotatedSite> GeneAnnotation::splice_sites(std::size_t contig, std::int64_t begin,
                                                        std::int64_t end) const {
  std::vector<AnnotatedSite> sites;
  for (const std::size_t i : transcripts_of_contig_[contig]) {
    const Transcript& transcript = transcripts_[i];
    const char strand = genes_[transcript.gene].strand;
    if (strand == '.' || transcript.body.end <= begin || transcript.body.begin >= end) continue;
    std::vector<Span> exons = transcript.exons;
    std::sort(exons.begin(), exons.end(),
              [](const Span& a, const Span& b) { return a.begin < b.begin; });
    for (std::size_t e = 0; e + 1 < exons.size(); ++e) {
      if (exons[e].end >= exons[e + 1].begin) continue;
      for (const auto& [base, is_left] :
           {std::pair(exons[e].end - 1, true), {exons[e + 1].begin, false}})
        if (base >= begin && base < end)
          sites.push_back({strand, is_left == (strand == '+'), base});
    }
  }
  return sites;
}

}  // namespace biogpu::genome
