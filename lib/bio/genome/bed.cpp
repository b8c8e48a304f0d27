#include "lib/bio/genome/bed.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string_view>
#include <vector>

#include "lib/bio/split.hpp"
#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"

namespace biogpu::genome {
namespace {

constexpr std::string_view kBlanks = " \t";

// Without the empty fields that runs of blanks make.
std::vector<std::string_view> split_columns(std::string_view line) {
  if (line.find('\t') != line.npos) return split(line, '\t');
  std::vector<std::string_view> columns;
  for (const std::string_view field : split(line, ' '))
    if (!field.empty()) columns.push_back(field);
  return columns;
}

bool is_line_of(std::string_view line, std::string_view word) {
  return line.starts_with(word) &&
         (line.size() == word.size() || kBlanks.find(line[word.size()]) != kBlanks.npos);
}

bool is_passed_over(std::string_view line) {
  return line.find_first_not_of(kBlanks) == line.npos || line.front() == '#' ||
         is_line_of(line, "track") || is_line_of(line, "browser");
}

std::optional<std::uint64_t> parse_bed_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(value)
                                                                  : std::nullopt;
}

}  // namespace

BedReader::BedReader(const std::string& path, const IndexedFasta& genome)
    : genome_(genome), lines_(path, "a BED file") {}

bool BedReader::next(Window& window) {
  if (!pass()) return false;
  window = interval();
  return true;
}

bool BedReader::pass() {
  while (lines_.next(line_))
    if (!is_passed_over(line_)) return true;
  return false;
}

Window BedReader::interval() const {
  const std::string place = this->place();
  const std::vector<std::string_view> columns = split_columns(line_);
  const auto begin = columns.size() < 3 ? std::nullopt : parse_bed_number(columns[1]);
  const auto end = columns.size() < 3 ? std::nullopt : parse_bed_number(columns[2]);
  if (!begin || !end || *begin > *end) {
    const bool is_gtf =
        columns.size() >= 9 && parse_bed_number(columns[3]) && parse_bed_number(columns[4]);
    throw Error(ErrorCode::bad_input,
                place + ": malformed; expected chromosome, start and end, start not above end" +
                    (is_gtf ? "; GTF is known by a name that ends in .gtf or .gtf.gz" : ""));
  }
  Window window;
  window.contig = genome_.require(columns[0], place);
  const Contig& contig = genome_.contigs()[window.contig];
  if (*end > contig.length)
    throw Error(ErrorCode::bad_input,
                fmt::format("{}: ends at {}; {} has {} letters in {}", place, *end,
                            quoted(contig.name), contig.length, genome_.path()));
  if (*begin == contig.length)
    throw Error(
        ErrorCode::bad_input,
        fmt::format("{}: an empty region at {}, behind the {} letters of {}; its centre must "
                    "lie in it",
                    place, *begin, contig.length, quoted(contig.name)));
  window.begin = static_cast<std::int64_t>(*begin);
  window.end = static_cast<std::int64_t>(*end);
  const bool named = columns.size() > 3 && !columns[3].empty() && columns[3] != ".";
  window.key = named ? std::string(columns[3]) : fmt::format("{}:{}-{}", contig.name, *begin, *end);
  return window;
}

std::string BedReader::place() const {
  return fmt::format("{}: line {}", lines_.label(), lines_.number());
}

}  // namespace biogpu::genome
