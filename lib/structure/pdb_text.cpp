#include "lib/structure/pdb_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"

namespace biogpu::structure {
namespace {

constexpr std::size_t kPdbCoordinates = 54;  // columns to the end of z

[[noreturn]] void throw_bad_record(const std::string& path, const std::string& what) {
  throw Error(ErrorCode::bad_input, path + ": " + what);
}

bool is_number(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(value);
}

bool is_atom(std::string_view line) {
  return line.starts_with("ATOM") || line.starts_with("HETATM");
}

// gemmi reads what it can of a field; a coordinate cut short or garbled must not pass for a number.
void check_pdb_atoms(const std::string& path, std::string_view text) {
  std::uint64_t n_line = 0, n_record = 0;
  std::size_t usual = kPdbCoordinates;  // columns of the atom before
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    ++n_line;
    if (!is_atom(line)) continue;
    ++n_record;
    const std::string where = fmt::format("record {} (line {})", n_record, n_line);
    // A last line without its end may stop behind the coordinates too.
    const std::size_t expected = end == std::string_view::npos ? usual : kPdbCoordinates;
    if (line.size() < expected)
      throw_bad_record(
          path, fmt::format("{}: an atom of {} columns, expected {} or more; the file may be cut "
                            "short",
                            where, line.size(), expected));
    usual = std::max(kPdbCoordinates, line.find_last_not_of(" \r") + 1);
    for (const std::size_t column : {30, 38, 46})
      if (!is_number(line.substr(column, 8)))
        throw_bad_record(path, fmt::format("{}: coordinate {} is no number", where,
                                           biogpu::quoted(line.substr(column, 8))));
  }
}

// Leaves atoms and the ends of chains and models, as the original looks at atoms alone; other lines
// become blanks, so that a message has the number of its line. Files that were joined are read to
// their end: gemmi stops at END, and refuses a number of a model that comes again.
void keep_atoms(std::string& text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::size_t end = std::min(text.size(), text.find('\n', at));
    const std::string_view line(text.data() + at, end - at);
    if (!is_atom(line) && !line.starts_with("TER") && !line.starts_with("ENDMDL"))
      text.replace(at, end - at, end - at, ' ');
    at = end;
  }
}

}  // namespace

void prepare_pdb(const std::string& path, std::string& text) {
  check_pdb_atoms(path, text);
  keep_atoms(text);
}

}  // namespace biogpu::structure
