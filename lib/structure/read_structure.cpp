// The only file that sees gemmi, whose headers take long to compile.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <gemmi/mmread.hpp>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

#include "lib/core/error.hpp"
#include "lib/io/input/gzip.hpp"
#include "lib/structure/structure.hpp"

namespace biogpu::structure {
namespace {

constexpr std::int64_t kMaxGap = 100'000;  // residues that one chain's numbers may span
constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();
constexpr std::size_t kPdbCoordinates = 54;  // columns to the end of z

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw Error(ErrorCode::bad_input, path + ": " + what);
}

std::string read_text(const std::string& path) {
  io::input::RawFile file(path);
  std::unique_ptr<io::input::ByteSource> unzipped;
  io::input::ByteSource* source = &file;
  if (file.peek(2) == "\x1f\x8b") {
    unzipped = std::make_unique<io::input::BlockSource>(
        std::make_unique<io::input::GzipProducer>(file, std::string_view()), 0);
    source = unzipped.get();
  }
  std::string text;
  for (std::size_t n = 0;;) {
    text.resize(text.size() + (1u << 20));
    const std::size_t got = source->read(text.data() + n, text.size() - n);
    n += got;
    text.resize(n);
    if (got == 0) return text;
  }
}

bool is_number(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(value);
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
    if (!line.starts_with("ATOM  ") && !line.starts_with("HETATM")) continue;
    ++n_record;
    const std::string where = fmt::format("record {} (line {})", n_record, n_line);
    // A last line without its end may stop behind the coordinates too.
    const std::size_t expected = end == std::string_view::npos ? usual : kPdbCoordinates;
    if (line.size() < expected)
      fail(path, fmt::format("{}: an atom of {} columns, expected {} or more; the file may be cut "
                             "short",
                             where, line.size(), expected));
    usual = std::max(kPdbCoordinates, line.find_last_not_of(" \r") + 1);
    for (const std::size_t column : {30, 38, 46})
      if (!is_number(line.substr(column, 8)))
        fail(path, fmt::format("{}: coordinate '{}' is no number", where, line.substr(column, 8)));
  }
}

// Files that were joined are read to their end, as by the original, which looks at atoms alone:
// gemmi stops at END, and refuses a number of a model that comes again. ENDMDL is left to part
// them.
void ignore_ends(std::string& text) {
  for (std::size_t line = 0; line < text.size(); ++line) {
    const std::size_t end = std::min(text.size(), text.find('\n', line));
    const bool is_end = text.compare(line, 3, "END") == 0 &&
                        (line + 3 >= end || text[line + 3] == ' ' || text[line + 3] == '\r');
    if (is_end || text.compare(line, 6, "MODEL ") == 0) text.replace(line, 3, "REM");
    line = end;
  }
}

std::string one_line(std::string text) {
  text.resize(std::min(text.size(), text.find('\n')));
  while (!text.empty() && (text.back() == ':' || text.back() == ' ')) text.pop_back();
  return text;
}

gemmi::Structure parse(const std::string& path, std::string& text) {
  try {
    const auto format = gemmi::coor_format_from_content(text.data(), text.data() + text.size());
    if (format == gemmi::CoorFormat::Pdb) {
      check_pdb_atoms(path, text);
      ignore_ends(text);
      return gemmi::read_pdb_from_memory(text.data(), text.size(), path);
    }
    if (format == gemmi::CoorFormat::Mmcif)
      return gemmi::make_structure(gemmi::cif::read_memory(text.data(), text.size(), path.c_str()));
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    std::string what = one_line(error.what());
    if (what.starts_with(path + ":")) what.erase(0, path.size() + 1);
    fail(path, what.starts_with(' ') ? what.substr(1) : what);
  }
  fail(path, "is neither PDB nor mmCIF");
}

struct Residue {
  char letter = 'X';
  std::array<float, kBackboneAtoms * 3> backbone{};
  std::array<bool, kBackboneAtoms> has{};
};
using Residues = std::map<int, std::map<char, Residue>>;  // by number, then insertion code

char letter_of(const std::string& name) {
  static const std::map<std::string, char> letters{
      {"ALA", 'A'}, {"ARG", 'R'}, {"ASN", 'N'}, {"ASP", 'D'}, {"CYS", 'C'},
      {"GLN", 'Q'}, {"GLU", 'E'}, {"GLY", 'G'}, {"HIS", 'H'}, {"ILE", 'I'},
      {"LEU", 'L'}, {"LYS", 'K'}, {"MET", 'M'}, {"PHE", 'F'}, {"PRO", 'P'},
      {"SER", 'S'}, {"THR", 'T'}, {"TRP", 'W'}, {"TYR", 'Y'}, {"VAL", 'V'}};
  const auto found = letters.find(name);
  return found == letters.end() ? 'X' : found->second;
}

void add_residue(const gemmi::Residue& from, Residues& residues) {
  const bool selenium = from.het_flag == 'H' && from.name == "MSE";
  if (from.het_flag == 'H' && !selenium) return;
  auto& at_number = residues[from.seqid.num.value];
  const auto [place, is_new] = at_number.try_emplace(from.seqid.icode);
  Residue& to = place->second;
  if (is_new) to.letter = selenium ? 'M' : letter_of(from.name);
  static constexpr std::array<std::string_view, kBackboneAtoms> kNames{"N", "CA", "C", "O"};
  for (const gemmi::Atom& atom : from.atoms) {
    const auto name = std::find(kNames.begin(), kNames.end(), atom.name);
    if (name == kNames.end()) continue;
    const auto a = static_cast<std::size_t>(name - kNames.begin());
    if (to.has[a]) continue;
    to.has[a] = true;
    to.backbone[3 * a] = static_cast<float>(atom.pos.x);
    to.backbone[3 * a + 1] = static_cast<float>(atom.pos.y);
    to.backbone[3 * a + 2] = static_cast<float>(atom.pos.z);
  }
}

void add_missing(Chain& chain, int number) {
  chain.sequence += 'X';
  chain.backbone.emplace_back().fill(kMissing);
  chain.labels.push_back(std::to_string(number));
}

Chain make_chain(const std::string& path, const std::string& name, const Residues& residues) {
  Chain chain;
  chain.name = name;
  const int first = residues.begin()->first, last = residues.rbegin()->first;
  if (std::int64_t{last} - first >= kMaxGap)
    fail(path, fmt::format("chain {}: residues are numbered from {} to {}, more than {} apart",
                           name, first, last, kMaxGap));
  int expected = first;
  for (const auto& [number, by_code] : residues) {
    for (; expected < number; ++expected) add_missing(chain, expected);
    expected = number + 1;
    for (const auto& [code, residue] : by_code) {
      chain.sequence += residue.letter;
      auto& backbone = chain.backbone.emplace_back();
      for (std::size_t a = 0; a < kBackboneAtoms; ++a)
        for (std::size_t d = 0; d < 3; ++d)
          backbone[3 * a + d] = residue.has[a] ? residue.backbone[3 * a + d] : kMissing;
      chain.labels.push_back(std::to_string(number) + (code == ' ' ? "" : std::string(1, code)));
    }
  }
  return chain;
}

bool has_backbone(const Structure& structure, bool ca_only) {
  for (const Chain& chain : structure.chains)
    for (const auto& atoms : chain.backbone)
      if (ca_only ? !std::isnan(atoms[3])
                  : std::none_of(atoms.begin(), atoms.end(), [](float x) { return std::isnan(x); }))
        return true;
  return false;
}

std::string name_of(const std::string& path) {
  std::filesystem::path name = std::filesystem::path(path).filename();
  if (name.extension() == ".gz") name = name.stem();
  return name.stem().string();
}

}  // namespace

Structure read_structure(const std::string& path, bool ca_only) {
  std::string text = read_text(path);
  const gemmi::Structure parsed = parse(path, text);
  std::map<std::string, Residues> chains;
  for (const gemmi::Model& model : parsed.models)
    for (const gemmi::Chain& chain : model.chains)
      for (const gemmi::Residue& residue : chain.residues) {
        if (!residue.seqid.num) fail(path, "chain " + chain.name + ": a residue has no number");
        for (const gemmi::Atom& atom : residue.atoms)
          if (!std::isfinite(atom.pos.x) || !std::isfinite(atom.pos.y) ||
              !std::isfinite(atom.pos.z))
            fail(path, fmt::format("chain {}: residue {}: a coordinate of {} is no number",
                                   chain.name, residue.seqid.str(), atom.name));
        add_residue(residue, chains[chain.name]);
      }
  Structure structure;
  structure.name = name_of(path);
  for (const auto& [name, residues] : chains)
    if (!residues.empty()) structure.chains.push_back(make_chain(path, name, residues));
  if (!has_backbone(structure, ca_only))
    fail(path, ca_only ? "holds no CA atom of a protein; expected ATOM records"
                       : "holds no residue with the backbone atoms N, CA, C and O");
  return structure;
}

}  // namespace biogpu::structure
