#include "lib/bio/molecule/graph/molecule_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/bio/molecule/fields.hpp"
#include "lib/bio/molecule/graph/rdkit_library.hpp"
#include "lib/bio/molecule/molecule.hpp"
#include "lib/core/error.hpp"
#include "lib/core/module.hpp"
#include "lib/core/quote.hpp"

namespace biogpu::molecule {
namespace {

constexpr std::string_view kV30Counts = "M  V30 COUNTS ";

std::string_view next_line(std::string_view& rest) {
  const std::size_t end = std::min(rest.size(), rest.find('\n'));
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(std::min(rest.size(), end + 1));
  return line;
}

std::string too_many(std::string_view counts) {
  return fmt::format("{} announces more atoms or bonds than the molecule has lines",
                     quoted(trimmed(counts)));
}

// Whether each of the first two fields is a number of at most n_lines.
bool fits(const std::vector<std::string_view>& fields, std::size_t n_lines) {
  for (std::size_t i = 0; i < 2 && i < fields.size(); ++i) {
    const auto number = parse_number<std::uint64_t>(fields[i]);
    if (!number || *number > n_lines) return false;
  }
  return fields.size() >= 2;
}

#ifdef BIOGPU_HAS_RDKIT

// MOL2, whose bonds RDKit follows wherever they point: sections of as many lines as are announced,
// atoms numbered from 1 on, and bonds between these.
class Mol2Check {
 public:
  Mol2Check(std::string_view text, std::size_t n_lines) : rest_(text), n_lines_(n_lines) {}

  // Empty, or what is wrong.
  std::string run() {
    next_line(rest_);  // @<TRIPOS>MOLECULE
    next_line(rest_);  // the title
    const std::string_view counts = next_line(rest_);
    const std::vector<std::string_view> fields = split_fields(counts);
    if (!fits(fields, n_lines_)) return too_many(counts);
    n_atoms_ = parse_number<std::uint64_t>(fields[0]).value_or(0);
    const std::uint64_t n_bonds = parse_number<std::uint64_t>(fields[1]).value_or(0);
    bool has_atoms = false, has_bonds = n_bonds == 0;
    while (!rest_.empty()) {
      const std::string_view line = trimmed(next_line(rest_));
      std::string what;
      if (line == "@<TRIPOS>ATOM" && !std::exchange(has_atoms, true))
        what = check_lines(n_atoms_, "atom", &Mol2Check::is_atom);
      else if (line == "@<TRIPOS>BOND" && has_atoms)
        what = check_lines(n_bonds, "bond", &Mol2Check::is_bond), has_bonds = true;
      if (!what.empty()) return what;
    }
    return has_atoms && has_bonds ? "" : "has no section of atoms, or of bonds";
  }

 private:
  using IsOne = bool (Mol2Check::*)(const std::vector<std::string_view>& fields,
                                    std::uint64_t number) const;

  std::string check_lines(std::uint64_t n, const char* what, IsOne is_one) {
    for (std::uint64_t number = 1; number <= n; ++number) {
      std::string_view line;
      do {
        if (rest_.empty()) return fmt::format("has {} of {} {}s", number - 1, n, what);
        line = trimmed(next_line(rest_));
      } while (line.empty() || line.starts_with('#'));
      if (line.ends_with('\\') || !(this->*is_one)(split_fields(line), number))
        return fmt::format("{} is not {} {} of {}", quoted(line), what, number, n);
    }
    return "";
  }
  bool is_atom(const std::vector<std::string_view>& fields, std::uint64_t number) const {
    return fields.size() >= 6 && parse_number<std::uint64_t>(fields[0]) == number &&
           std::all_of(fields.begin() + 2, fields.begin() + 5,
                       [](std::string_view x) { return parse_number<double>(x).has_value(); });
  }
  bool is_bond(const std::vector<std::string_view>& fields, std::uint64_t number) const {
    if (fields.size() < 4 || parse_number<std::uint64_t>(fields[0]) != number) return false;
    return std::all_of(fields.begin() + 1, fields.begin() + 3, [&](std::string_view x) {
      const std::uint64_t atom = parse_number<std::uint64_t>(x).value_or(0);
      return atom >= 1 && atom <= n_atoms_;
    });
  }

  std::string_view rest_;
  const std::size_t n_lines_;
  std::uint64_t n_atoms_ = 0;
};

std::string first_line(std::string text) {
  text.resize(std::min(text.size(), text.find('\n')));
  return std::string(trimmed(text));
}

void require_finite(const MoleculeGraph& graph, const std::string& place) {
  for (const double x : graph.positions)
    if (!(std::abs(x) <= kMaxCoordinate))
      throw Error(ErrorCode::bad_input,
                  fmt::format("{}: a coordinate is {}; expected a number from -1000000 to 1000000",
                              place, x));
}

constexpr char kModule[] = "libbiogpu_rdkit.so";

const RdkitLibrary& load_library(const std::string& label) {
  const auto fail = [&](const std::string& why) {
    return Error(ErrorCode::usage, fmt::format("{}: {}", label, why));
  };
  const auto path = find_module(kModule);
  if (path.empty())
    throw fail(fmt::format("molecules with bonds need {}, which is not installed", kModule));
  std::string why;
  using Entry = const RdkitLibrary* (*)();
  const auto entry = reinterpret_cast<Entry>(open_module(path, "biogpu_rdkit_library", &why));
  if (entry == nullptr) throw fail("cannot load RDKit: " + why);
  const RdkitLibrary* const library = entry();
  if (library == nullptr || library->interface != RdkitLibrary::kInterface)
    throw fail(path.string() + " is of another version of biogpu");
  return *library;
}

const RdkitLibrary& rdkit_library(const std::string& label) {
  static const RdkitLibrary& library = load_library(label);
  return library;
}

#endif

}  // namespace

std::string check_announced_size(const MoleculeText& molecule) {
  const auto n_lines =
      static_cast<std::size_t>(std::count(molecule.text.begin(), molecule.text.end(), '\n') + 1);
  if (molecule.format == GraphFormat::mol2) return Mol2Check(molecule.text, n_lines).run();
  std::string_view rest = molecule.text;
  // V2000 has three digits. What a dash continues cannot be counted before it is joined.
  while (!rest.empty()) {
    const std::string_view line = next_line(rest);
    if (!line.starts_with("M  V30") || line.find("COUNTS") == line.npos) continue;
    if (!line.starts_with(kV30Counts) ||
        !fits(split_fields(line.substr(kV30Counts.size())), n_lines))
      return too_many(line);
  }
  return "";
}

#ifdef BIOGPU_HAS_RDKIT

bool has_molecule_graphs() { return true; }

void require_molecule_graphs(const std::string& label) { (void)rdkit_library(label); }

MoleculeGraph make_molecule_graph(const MoleculeText& molecule) {
  const auto fail = [&](const std::string& what) {
    return Error(ErrorCode::bad_input, fmt::format("{}: {}", molecule.place, what));
  };
  const RdkitLibrary& library = rdkit_library(molecule.place);
  if (!molecule.error.empty()) throw fail(molecule.error);
  if (const std::string what = check_announced_size(molecule); !what.empty()) throw fail(what);
  MoleculeGraph graph;
  std::string why;
  if (!library.make_graph(molecule.text, molecule.format, graph, why))
    throw fail(first_line(std::move(why)));
  require_finite(graph, molecule.place);
  graph.name = std::string(trimmed(graph.name));
  return graph;
}

#else

bool has_molecule_graphs() { return false; }

void require_molecule_graphs(const std::string& label) {
  throw Error(ErrorCode::usage, label +
                                    ": this build has no RDKit, which molecules with bonds "
                                    "need; build with the package librdkit-dev");
}

MoleculeGraph make_molecule_graph(const MoleculeText& molecule) {
  require_molecule_graphs(molecule.place);
  return {};
}

#endif

}  // namespace biogpu::molecule
