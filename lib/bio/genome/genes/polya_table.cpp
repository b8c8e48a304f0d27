#include "lib/bio/genome/genes/polya_table.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "lib/bio/split.hpp"
#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"
#include "lib/io/line_reader.hpp"

namespace biogpu::genome {
namespace {

constexpr std::size_t kPolyaColumns = 6;

std::optional<std::int64_t> parse_polya_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

bool is_polya_comment(std::string_view line) {
  return line.find_first_not_of(" \t") == line.npos || line.front() == '#' ||
         line.starts_with("track ") || line.starts_with("browser ");
}

}  // namespace

PolyaTable::PolyaTable(const std::string& path, const IndexedFasta& genome) {
  io::LineReader lines(path, "a BED file of polyadenylation sites");
  std::string unknown;
  for (std::string line; lines.next(line);) {
    if (is_polya_comment(line)) continue;
    const auto fail = [&](const std::string& what) {
      throw Error(ErrorCode::bad_input,
                  fmt::format("{}: line {}: {}", lines.label(), lines.number(), what));
    };
    const std::vector<std::string_view> fields = split(line, '\t');
    if (fields.size() < kPolyaColumns)
      fail(fmt::format("{} columns; expected chromosome, start, end, gene_id, score and strand",
                       fields.size()));
    const auto begin = parse_polya_number(fields[1]), end = parse_polya_number(fields[2]);
    if (!begin || !end || *begin >= *end)
      fail("malformed; expected start and end, start below end");
    if (without_version(fields[3]).empty()) fail("no gene_id in the fourth column");
    if (fields[5] != "+" && fields[5] != "-")
      fail(fmt::format("strand {}; expected + or -", quoted(fields[5])));
    const auto contig = genome.find(fields[0]);
    if (!contig) {
      if (unknown.empty()) unknown = fields[0];
      ++n_lines_elsewhere_;
      continue;
    }
    const Contig& sequence = genome.contigs()[*contig];
    if (static_cast<std::uint64_t>(*end) > sequence.length)
      fail(fmt::format("ends at {}; {} has {} letters in {}", *end, quoted(sequence.name),
                       sequence.length, genome.path()));
    sites_[std::string(without_version(fields[3]))].push_back(
        {*contig, fields[5].front(), {*begin, *end}});
    ++n_sites_;
  }
  if (n_sites_ == 0 && !unknown.empty())
    throw Error(ErrorCode::bad_input,
                fmt::format("{}: {}", lines.label(), genome.describe_missing(unknown)));
}

std::vector<Span> PolyaTable::sites_of(const AnnotatedGene& gene) const {
  std::vector<Span> found;
  const auto of_gene = sites_.find(std::string(without_version(gene.id)));
  if (of_gene == sites_.end()) return found;
  for (const Site& site : of_gene->second)
    if (site.contig == gene.contig && site.strand == gene.strand) found.push_back(site.span);
  return found;
}

}  // namespace biogpu::genome
