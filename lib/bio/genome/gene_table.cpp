#include "lib/bio/genome/gene_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "lib/bio/genome/bed.hpp"
#include "lib/bio/genome/genes/gtf_fields.hpp"
#include "lib/bio/split.hpp"
#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"
#include "lib/io/line_reader.hpp"

namespace biogpu::genome {
namespace {

constexpr std::size_t kColumns = 9;

// What is known of a gene while GTF is read.
struct GtfGene {
  Window place;      // without a key
  std::string name;  // or empty
  bool has_line = false;
};

// gene_id, strand and sequence.
using GtfGeneKey = std::tuple<std::string, std::string, std::size_t>;

}  // namespace

GeneFormat gene_format(const std::string& path) {
  std::string name = path;
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  if (name.ends_with(".gff") || name.ends_with(".gff3"))
    throw Error(ErrorCode::usage, path + ": GFF3 is not read; expected GTF or BED");
  return name.ends_with(".gtf") ? GeneFormat::gtf : GeneFormat::bed;
}

GeneTable::GeneTable(const std::string& path, GeneFormat format, const IndexedFasta& genome) {
  if (format == GeneFormat::gtf) {
    read_gtf(path, genome);
  } else {
    BedReader bed(path, genome);
    for (Window gene; bed.next(gene);) genes_.push_back(gene);
  }
  name_apart(genome);
  sort();
}

void GeneTable::read_gtf(const std::string& path, const IndexedFasta& genome) {
  io::LineReader lines(path, "a GTF file");
  std::string unknown;  // the first sequence that the genome does not have
  std::map<GtfGeneKey, std::vector<GtfGene>> genes;  // in no order of the file, but the same always
  for (std::string line; lines.next(line);) {
    if (line.empty() || line.front() == '#') continue;
    const auto place = [&] { return fmt::format("{}: line {}", lines.label(), lines.number()); };
    const std::vector<std::string_view> fields = split(line, '\t');
    if (fields.size() != kColumns)
      throw Error(ErrorCode::bad_input,
                  fmt::format("{}: {} columns; expected the 9 of GTF", place(), fields.size()));
    const bool is_gene = fields[2] == "gene";
    const std::string_view id = find_gtf_attribute(fields[8], "gene_id");
    const std::string_view name = find_gtf_attribute(fields[8], "gene_name");
    if (!is_gene && id.empty()) continue;  // of no gene
    const auto begin = parse_gtf_position(fields[3]), end = parse_gtf_position(fields[4]);
    if (!begin || !end || *begin > *end || (id.empty() && name.empty()))
      throw Error(ErrorCode::bad_input,
                  fmt::format("{}: malformed {}; expected start, end, and gene_name or gene_id",
                              place(), shortened(fields[2])));
    const auto contig = genome.find(fields[0]);
    if (!contig) {
      if (unknown.empty()) unknown = fields[0];
      ++n_lines_elsewhere_;
      continue;
    }
    const Contig& sequence = genome.contigs()[*contig];
    if (static_cast<std::uint64_t>(*end) > sequence.length)
      throw Error(ErrorCode::bad_input,
                  fmt::format("{}: ends at {}; {} has {} letters in {}", place(), *end,
                              quoted(sequence.name), sequence.length, genome.path()));
    std::vector<GtfGene>& same =
        genes[{std::string(id.empty() ? name : id), std::string(fields[6]), *contig}];
    const Window interval{"", *contig, *begin - 1, *end};
    if (is_gene && !same.empty() && !same.front().has_line) same.clear();
    if (is_gene || same.empty()) {
      same.push_back({interval, std::string(name), is_gene});
    } else if (!same.front().has_line) {
      Window& span = same.front().place;
      span.begin = std::min(span.begin, interval.begin);
      span.end = std::max(span.end, interval.end);
    }
  }
  if (genes.empty() && !unknown.empty())
    throw Error(ErrorCode::bad_input,
                fmt::format("{}: {}", lines.label(), genome.describe_missing(unknown)));
  if (genes.empty())
    throw Error(ErrorCode::bad_input,
                lines.label() + ": has no gene; expected lines with gene_id or of genes");
  // A name of several genes tells none of them.
  std::map<std::string_view, std::size_t> n_named;
  for (const auto& [key, same] : genes) ++n_named[same.front().name];
  for (const auto& [key, same] : genes)
    for (const GtfGene& gene : same) {
      n_spanned_ += gene.has_line ? 0 : 1;
      genes_.push_back(gene.place);
      const bool by_name = !gene.name.empty() && n_named[same.front().name] == 1;
      genes_.back().key = by_name ? gene.name : std::get<0>(key);
    }
}

void GeneTable::name_apart(const IndexedFasta& genome) {
  std::unordered_map<std::string, std::size_t> n_named;
  for (const Window& gene : genes_) ++n_named[gene.key];
  for (Window& gene : genes_)
    if (n_named[gene.key] > 1)
      gene.key +=
          fmt::format("({}:{}-{})", genome.contigs()[gene.contig].name, gene.begin, gene.end);
}

void GeneTable::sort() {
  std::stable_sort(genes_.begin(), genes_.end(), [](const Window& a, const Window& b) {
    return std::tie(a.contig, a.begin) < std::tie(b.contig, b.begin);
  });
  for (std::size_t i = 0; i < genes_.size(); ++i) {
    const bool first = i == 0 || genes_[i - 1].contig != genes_[i].contig;
    latest_end_.push_back(first ? genes_[i].end : std::max(latest_end_.back(), genes_[i].end));
  }
}

std::vector<Window> GeneTable::overlapping(std::size_t contig, std::int64_t begin,
                                           std::int64_t end) const {
  auto at = std::lower_bound(
      genes_.begin(), genes_.end(), std::pair(contig, end),
      [](const Window& gene, const auto& key) { return std::pair(gene.contig, gene.begin) < key; });
  std::vector<Window> found;
  while (at != genes_.begin()) {
    --at;
    const auto i = static_cast<std::size_t>(at - genes_.begin());
    if (at->contig != contig || latest_end_[i] <= begin) break;
    if (at->end > begin) found.push_back(*at);
  }
  std::reverse(found.begin(), found.end());
  return found;
}

}  // namespace biogpu::genome
