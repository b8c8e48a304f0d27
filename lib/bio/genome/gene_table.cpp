#include "lib/bio/genome/gene_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <tuple>

#include "lib/bio/genome/bed.hpp"
#include "lib/bio/split.hpp"
#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"
#include "lib/io/line_reader.hpp"

namespace biogpu::genome {
namespace {

constexpr std::size_t kColumns = 9;

std::optional<std::int64_t> parse_position(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 1) return std::nullopt;
  return value;
}

// The text of key "value"; in GTF's last column.
std::string_view find_attribute(std::string_view attributes, std::string_view key) {
  for (std::size_t at = attributes.find(key); at != attributes.npos;
       at = attributes.find(key, at + 1)) {
    const bool begins = at == 0 || attributes[at - 1] == ' ' || attributes[at - 1] == ';';
    std::string_view rest = attributes.substr(at + key.size());
    if (!begins || !rest.starts_with(" \"")) continue;
    rest.remove_prefix(2);
    return rest.substr(0, rest.find('"'));
  }
  return {};
}

}  // namespace

GeneFormat gene_format(const std::string& path) {
  return path.ends_with(".gtf") || path.ends_with(".gtf.gz") ? GeneFormat::gtf : GeneFormat::bed;
}

GeneTable::GeneTable(const std::string& path, GeneFormat format, const IndexedFasta& genome) {
  if (format == GeneFormat::gtf) {
    read_gtf(path, genome);
  } else {
    BedReader bed(path, genome);
    for (Window gene; bed.next(gene);) genes_.push_back(gene);
  }
  sort();
}

void GeneTable::read_gtf(const std::string& path, const IndexedFasta& genome) {
  io::LineReader lines(path, "a GTF file");
  std::string unknown;  // the first sequence that the genome does not have
  for (std::string line; lines.next(line);) {
    if (line.empty() || line.front() == '#') continue;
    const auto place = [&] { return fmt::format("{}: line {}", lines.label(), lines.number()); };
    const std::vector<std::string_view> fields = split(line, '\t');
    if (fields.size() != kColumns)
      throw Error(ErrorCode::bad_input,
                  fmt::format("{}: {} columns; expected the 9 of GTF", place(), fields.size()));
    if (fields[2] != "gene") continue;
    const auto begin = parse_position(fields[3]), end = parse_position(fields[4]);
    std::string_view name = find_attribute(fields[8], "gene_name");
    if (name.empty()) name = find_attribute(fields[8], "gene_id");
    if (!begin || !end || *begin > *end || name.empty())
      throw Error(ErrorCode::bad_input,
                  place() + ": malformed gene; expected start, end, and gene_name or gene_id");
    const auto contig = genome.find(fields[0]);
    if (!contig) {
      if (unknown.empty()) unknown = fields[0];
      continue;
    }
    const Contig& sequence = genome.contigs()[*contig];
    if (static_cast<std::uint64_t>(*end) > sequence.length)
      throw Error(ErrorCode::bad_input,
                  fmt::format("{}: ends at {}; {} has {} letters in {}", place(), *end,
                              quoted(sequence.name), sequence.length, genome.path()));
    genes_.push_back({std::string(name), *contig, *begin - 1, *end});
  }
  if (genes_.empty() && !unknown.empty())
    throw Error(ErrorCode::bad_input, fmt::format("{}: {} has none of its sequences, as {}",
                                                  lines.label(), genome.path(), quoted(unknown)));
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
