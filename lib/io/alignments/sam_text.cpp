#include "lib/io/alignments/sam_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <unordered_map>

#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"
#include "lib/core/version.hpp"

namespace biogpu::io::output {
namespace {

constexpr std::size_t kMaxQueryName = 254;
constexpr std::string_view kOperations = "MIDNSHP=X???????";

bool is_printable(std::string_view name) {
  return std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c <= '~'; });
}

// SAM specification, section 1.2.1: what may begin the name of a reference, and what it may hold.
bool is_target_name(std::string_view name) {
  return !name.empty() && name[0] != '*' && name[0] != '=' && is_printable(name) &&
         name.find_first_of("\\,\"`'()[]{}<>") == std::string_view::npos;
}

void append_number(std::string& text, std::int64_t number) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof(digits), number).ptr;
  text.append(digits, end);
}

void append_cigar(std::string& text, std::span<const std::uint32_t> cigar) {
  if (cigar.empty()) text += '*';
  for (const std::uint32_t operation : cigar) {
    append_number(text, operation >> 4);
    text += kOperations[operation & 15];
  }
}

void append_or_star(std::string& text, std::string_view field) {
  text += field.empty() ? std::string_view("*") : field;
}

}  // namespace

SeqLetters::SeqLetters(const SamLetters& letters) {
  for (std::size_t byte = 0; byte < table_.size(); ++byte) {
    const char c = static_cast<char>(byte);
    const bool allowed = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '.';
    table_[byte] = allowed ? c : letters.other;
  }
  if (!letters.rna) return;
  table_['U'] = 'T';
  table_['u'] = 't';
}

void SeqLetters::append(std::string& text, std::string_view residues) const {
  const std::size_t begin = text.size();
  text += residues;
  for (std::size_t i = begin; i < text.size(); ++i)
    text[i] = table_[static_cast<unsigned char>(text[i])];
}

void check_target_names(const std::string& label, Targets targets) {
  std::unordered_map<std::string_view, std::size_t> seen;
  seen.reserve(targets.size());
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const std::string& name = targets[i].first;
    if (!is_target_name(name)) {
      throw Error(ErrorCode::bad_input,
                  fmt::format("{}: record {} is named {}, which SAM cannot hold; rename it", label,
                              i + 1, quoted(name)));
    }
    const auto [first, is_new] = seen.emplace(name, i);
    if (!is_new) {
      throw Error(ErrorCode::bad_input,
                  fmt::format("{}: records {} and {} are both named {}; targets of SAM need "
                              "different names",
                              label, first->second + 1, i + 1, quoted(name)));
    }
  }
}

std::string sam_header(const std::string& label, Targets targets, const std::string& program_line) {
  check_target_names(label, targets);
  std::string text = "@HD\tVN:1.6\tSO:unknown\n";
  for (const auto& [name, length] : targets) {
    if (length > 0) text += fmt::format("@SQ\tSN:{}\tLN:{}\n", name, length);
  }
  if (!program_line.empty()) {
    // A tab or a line feed inside an argument would end the field.
    std::string line = program_line;
    std::replace_if(
        line.begin(), line.end(), [](unsigned char c) { return c < ' '; }, ' ');
    text += fmt::format("@PG\tID:biogpu\tPN:biogpu\tVN:{}\tCL:{}\n", kVersion, line);
  }
  return text;
}

void check_query_name(const std::string& label, std::string_view name) {
  if (name.size() > kMaxQueryName) {
    throw Error(ErrorCode::bad_input,
                fmt::format("{}: the name of read {} has {} characters; SAM holds at most {}",
                            label, quoted(name), name.size(), kMaxQueryName));
  }
  if (!is_printable(name) || name.find('@') != std::string_view::npos) {
    throw Error(ErrorCode::bad_input,
                fmt::format("{}: the name of read {} holds an '@' or a character outside ASCII, "
                            "which SAM cannot hold; rename it",
                            label, quoted(name)));
  }
}

void append_sam_line(std::string& text, const SamRecord& record, Targets targets,
                     const SeqLetters& letters) {
  append_or_star(text, record.query_name);
  text += '\t';
  append_number(text, record.flag);
  text += '\t';
  const bool placed = record.target_id >= 0;
  text += placed ? std::string_view(targets[static_cast<std::size_t>(record.target_id)].first)
                 : std::string_view("*");
  text += '\t';
  append_number(text, record.target_begin + 1);
  text += '\t';
  append_number(text, record.mapq);
  text += '\t';
  append_cigar(text, record.cigar);
  text += "\t*\t0\t0\t";
  if (record.sequence.empty())
    text += '*';
  else
    letters.append(text, record.sequence);
  text += '\t';
  append_or_star(text, record.quality);
  text += "\tAS:i:";
  append_number(text, record.score);
  if (record.edit_distance >= 0) {
    text += "\tNM:i:";
    append_number(text, record.edit_distance);
  }
  text += '\n';
}

}  // namespace biogpu::io::output
