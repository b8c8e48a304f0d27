#include "lib/io/part_joiner.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lib/core/error.hpp"
#include "lib/io/input/compression.hpp"

namespace biogpu::io {
namespace {

constexpr std::uint64_t kSamColumns = 11;
constexpr std::uint64_t kVcfColumns = 8;
constexpr std::size_t kMaxHeaderLine = 16u << 20;

bool is_marked(PartFormat format) { return format == PartFormat::sam || format == PartFormat::vcf; }

std::uint64_t count_tabs(std::string_view text) {
  return static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\t'));
}

[[noreturn]] void refuse_part(const std::string& path, const std::string& what) {
  throw Error(ErrorCode::bad_input, path + ": " + what);
}

}  // namespace

void PartJoiner::add(const std::string& path) {
  path_ = path;
  line_ = 0;
  n_columns_ = 1;
  TextReader reader(path);
  std::string_view text = reader.next();
  input::refuse_compression(text, path);
  if (text.find('\0') != std::string_view::npos)
    refuse_part(path, "is no text; k-mers are joined by 'biogpu kmer merge'");
  if (format_ == PartFormat::tsv) text = take_tsv_header(reader, text);
  if (is_marked(format_)) text = take_marked_header(reader, text);
  char last = '\n';
  for (; !text.empty(); text = reader.next()) {
    if (format_ != PartFormat::lines) check_rows(text);
    out_.write(text);
    last = text.back();
  }
  if (last != '\n') refuse_part(path, "ends inside a line; the part is cut short");
  is_first_ = false;
}

std::string_view PartJoiner::take_tsv_header(TextReader& reader, std::string_view text) {
  std::string line;
  text = take_line(reader, text, line);
  if (line.empty()) refuse_part(path_, "is empty; expected a line of column names");
  if (is_first_) {
    header_ = line;
    n_header_columns_ = count_tabs(line) + 1;
    out_.write(line);
  } else if (line != header_) {
    refuse_part(
        path_,
        "begins with another line than the first part; --format lines joins tables without a "
        "header");
  }
  return text;
}

// Parts of one run differ in their @PG lines alone, which name their commands.
std::string_view PartJoiner::take_marked_header(TextReader& reader, std::string_view text) {
  const bool is_sam = format_ == PartFormat::sam;
  std::string header;
  while (!text.empty() && text.front() == (is_sam ? '@' : '#')) {
    std::string line;
    text = take_line(reader, text, line);
    if (is_first_) out_.write(line);
    if (!is_sam || !line.starts_with("@PG\t")) header += line;
  }
  if (is_first_) {
    header_ = std::move(header);
  } else if (header != header_) {
    refuse_part(path_, fmt::format("has {} in its header than the first part; parts of one run "
                                   "have the same",
                                   is_sam ? "other targets" : "other lines"));
  }
  return text;
}

// What follows the line.
std::string_view PartJoiner::take_line(TextReader& reader, std::string_view text,
                                       std::string& line) {
  for (; !text.empty(); text = reader.next()) {
    const std::size_t end = text.find('\n');
    line += text.substr(0, end == std::string_view::npos ? end : end + 1);
    if (line.size() > kMaxHeaderLine) refuse_part(path_, "a header line of more than 16 MiB");
    if (end == std::string_view::npos) continue;
    ++line_;
    text.remove_prefix(end + 1);
    return text.empty() ? reader.next() : text;
  }
  if (!line.empty()) refuse_part(path_, "ends inside a line of its header; the part is cut short");
  return text;
}

void PartJoiner::check_rows(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    n_columns_ += count_tabs(text.substr(0, end));
    if (end == std::string_view::npos) return;
    ++line_;
    check_row();
    n_columns_ = 1;
    text.remove_prefix(end + 1);
  }
}

void PartJoiner::check_row() const {
  if (format_ == PartFormat::tsv && n_columns_ != n_header_columns_)
    refuse_part(path_, fmt::format("line {} has {} columns, the first line {}; the part may be cut "
                                   "short, or no table (--format lines)",
                                   line_, n_columns_, n_header_columns_));
  if (!is_marked(format_)) return;
  const bool is_sam = format_ == PartFormat::sam;
  if (const std::uint64_t least = is_sam ? kSamColumns : kVcfColumns; n_columns_ < least)
    refuse_part(path_,
                fmt::format("line {} has {} columns, {} at least {}; the part may be cut short",
                            line_, n_columns_, is_sam ? "SAM" : "VCF", least));
}

}  // namespace biogpu::io
