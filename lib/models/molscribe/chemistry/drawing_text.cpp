#include "lib/models/molscribe/chemistry/drawing_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "lib/models/molscribe/chemistry/atom_symbol.hpp"

namespace biogpu::models::molscribe {
namespace {

constexpr std::size_t kMaxEntries = 999;  // of V2000

std::vector<AtomSymbol> read_symbols(const MoleculeGraph& graph) {
  std::vector<AtomSymbol> symbols;
  for (const GraphAtom& atom : graph.atoms) symbols.push_back(read_symbol(atom.symbol));
  return symbols;
}

// Depth first, the atoms of a fragment from the lowest number, without calling itself: a chain may
// be as long as a sequence of tokens.
class SmilesWriter {
 public:
  explicit SmilesWriter(const MoleculeGraph& graph)
      : graph_(graph), symbols_(read_symbols(graph)), place_(symbols_.size(), kNone) {}

  std::string write() {
    for (std::size_t first = 0; first < symbols_.size(); ++first)
      if (place_[first] == kNone) find_tree(first);
    for (std::size_t i = 0; i < order_.size(); ++i) number_rings(order_[i]);
    for (std::size_t first : firsts_) {
      if (!text_.empty()) text_ += '.';
      write_fragment(first);
    }
    return std::move(text_);
  }

 private:
  static constexpr std::size_t kNone = SIZE_MAX;
  using Pair = std::pair<std::size_t, std::size_t>;

  std::vector<std::size_t> neighbours(std::size_t atom) const {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < symbols_.size(); ++i)
      if (i != atom && graph_.bond(std::min(i, atom), std::max(i, atom)) != kNoBond)
        found.push_back(i);
    return found;
  }

  // The order in which atoms are written, their children, and the bonds that close rings.
  void find_tree(std::size_t first) {
    firsts_.push_back(first);
    struct Step {
      std::size_t atom, parent;
      std::vector<std::size_t> to;
      std::size_t next = 0;
    };
    std::vector<Step> steps;
    const auto enter = [&](std::size_t atom, std::size_t parent) {
      place_[atom] = order_.size();
      order_.push_back(atom);
      if (parent != kNone) children_[parent].push_back(atom);
      steps.push_back({atom, parent, neighbours(atom)});
    };
    enter(first, kNone);
    while (!steps.empty()) {
      Step& step = steps.back();
      if (step.next == step.to.size()) {
        steps.pop_back();
        continue;
      }
      const std::size_t atom = step.atom, other = step.to[step.next++];
      if (other == step.parent) continue;
      if (place_[other] == kNone)
        enter(other, atom);
      else if (place_[other] < place_[atom])
        rings_.push_back({other, atom});
    }
  }

  // Digits of the rings that an atom opens or closes, with the bond where a ring is opened.
  void number_rings(std::size_t atom) {
    std::string& text = ring_text_[atom];
    std::vector<std::size_t> freed;
    for (Pair ring : rings_) {
      if (ring.second != atom) continue;
      const std::size_t number = open_.at(ring);
      text += ring_number(number);
      freed.push_back(number);
    }
    std::vector<Pair> opened;
    for (const Pair& ring : rings_)
      if (ring.first == atom) opened.push_back(ring);
    std::sort(opened.begin(), opened.end(),
              [&](const Pair& a, const Pair& b) { return place_[a.second] < place_[b.second]; });
    for (const Pair& ring : opened) {
      std::size_t number = 1;
      while (used_.size() > number && used_[number]) ++number;
      used_.resize(std::max(used_.size(), number + 1));
      used_[number] = true;
      open_[ring] = number;
      text += bond_text(ring.first, ring.second) + ring_number(number);
    }
    for (const std::size_t number : freed) used_[number] = false;
  }
  // Beyond 99 there is no number that all readers know.
  static std::string ring_number(std::size_t n) {
    return n < 10    ? fmt::format("{}", n)
           : n < 100 ? fmt::format("%{}", n)
                     : fmt::format("%({})", n);
  }

  std::string bond_text(std::size_t a, std::size_t b) const {
    const bool both_aromatic = symbols_[a].is_aromatic && symbols_[b].is_aromatic;
    switch (graph_.bond(std::min(a, b), std::max(a, b))) {
      case kDouble:
        return "=";
      case kTriple:
        return "#";
      case kAromatic:
        return both_aromatic ? "" : ":";
      default:
        return both_aromatic ? "-" : "";
    }
  }

  void write_fragment(std::size_t first) {
    struct Step {
      std::size_t atom, next = 0;
      bool has_parenthesis = false;
    };
    std::vector<Step> steps{{first}};
    write_atom(first);
    while (!steps.empty()) {
      Step& step = steps.back();
      const std::vector<std::size_t>& to = children_[step.atom];
      if (step.next == to.size()) {
        if (step.has_parenthesis) text_ += ')';
        steps.pop_back();
        continue;
      }
      const std::size_t child = to[step.next++];
      const bool is_branch = step.next < to.size();
      if (is_branch) text_ += '(';
      text_ += bond_text(step.atom, child);
      write_atom(child);
      steps.push_back({child, 0, is_branch});
    }
  }
  void write_atom(std::size_t atom) { text_ += symbols_[atom].smiles + ring_text_[atom]; }

  const MoleculeGraph& graph_;
  const std::vector<AtomSymbol> symbols_;
  std::vector<std::size_t> place_, order_, firsts_;
  std::map<std::size_t, std::vector<std::size_t>> children_;
  std::map<std::size_t, std::string> ring_text_;
  std::vector<Pair> rings_;
  std::map<Pair, std::size_t> open_;
  std::vector<bool> used_;
  std::string text_;
};

// Entries of a property, eight a line.
std::string property_lines(const char* name,
                           const std::vector<std::pair<std::size_t, int>>& entries) {
  std::string text;
  constexpr std::size_t kPerLine = 8;
  for (std::size_t i = 0; i < entries.size(); i += kPerLine) {
    const std::size_t n = std::min(kPerLine, entries.size() - i);
    text += fmt::format("M  {}{:3}", name, n);
    for (std::size_t k = i; k < i + n; ++k)
      text += fmt::format(" {:3} {:3}", entries[k].first + 1, entries[k].second);
    text += '\n';
  }
  return text;
}

}  // namespace

std::string graph_smiles(const MoleculeGraph& graph) { return SmilesWriter(graph).write(); }

std::string graph_molfile(const MoleculeGraph& graph, double aspect, const std::string& name) {
  const std::size_t n = graph.atoms.size(), n_bonds = graph.n_bonds();
  if (n > kMaxEntries || n_bonds > kMaxEntries) return {};
  std::string text = fmt::format("{}\n  biogpu            2D\n\n", name);
  text += fmt::format("{:3}{:3}  0  0  0  0  0  0  0  0999 V2000\n", n, n_bonds);
  std::vector<std::pair<std::size_t, int>> charges, isotopes;
  std::string aliases;
  const std::vector<AtomSymbol> symbols = read_symbols(graph);
  for (std::size_t i = 0; i < n; ++i) {
    const GraphAtom& atom = graph.atoms[i];
    const AtomSymbol& symbol = symbols[i];
    text += fmt::format("{:10.4f}{:10.4f}{:10.4f} {:<3} 0  0  0  0  0  0  0  0  0  0  0  0\n",
                        atom.x * aspect * 10, 1 - atom.y * 10, 0.0, symbol.element);
    if (symbol.charge != 0) charges.push_back({i, symbol.charge});
    if (symbol.isotope != 0) isotopes.push_back({i, symbol.isotope});
    if (!symbol.alias.empty()) aliases += fmt::format("A  {:3}\n{}\n", i + 1, symbol.alias);
  }
  constexpr std::array<int, kBondKinds> kOrders{0, 1, 2, 3, 4, 1, 1}, kStereo{0, 0, 0, 0, 0, 1, 6};
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = i + 1; j < n; ++j)
      if (const std::uint8_t bond = graph.bond(i, j); bond != kNoBond)
        text += fmt::format("{:3}{:3}{:3}{:3}\n", i + 1, j + 1, kOrders[bond], kStereo[bond]);
  return text + aliases + property_lines("CHG", charges) + property_lines("ISO", isotopes) +
         "M  END\n";
}

}  // namespace biogpu::models::molscribe
