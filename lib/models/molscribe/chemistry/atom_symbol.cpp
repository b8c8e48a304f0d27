#include "lib/models/molscribe/chemistry/atom_symbol.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>

#include "lib/models/molscribe/characters.hpp"
#include "lib/models/molscribe/chemistry/abbreviations.hpp"
#include "lib/structure/elements.hpp"

namespace biogpu::models::molscribe {
namespace {

constexpr std::array<std::string_view, 10> kOrganicAtoms{"B", "C", "N",  "O",  "P",
                                                         "S", "F", "Cl", "Br", "I"};
constexpr std::array<std::string_view, 8> kAromaticAtoms{"b", "c", "n", "o", "p", "s", "se", "as"};
constexpr std::size_t kAromaticOutside = 6;  // of these may be outside brackets

// In its own case.
bool is_element_symbol(std::string_view name) {
  const int number = structure::atomic_number_of(name);
  return number > 0 && structure::element_symbol(number) == name;
}

template <class Names>
bool holds(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// The inside of brackets as SMILES: isotope, element, chirality, hydrogens, charge, class.
class BracketAtom {
 public:
  explicit BracketAtom(std::string_view text) : text_(text) {}

  bool read(AtomSymbol& atom) {
    atom.isotope = number(3, 0);
    if (!read_element(atom)) return false;
    while (next_is('@')) ++at_;
    if (next_is('H')) {
      ++at_;
      n_hydrogens_ = number(1, 1);
    }
    atom.charge = read_charge();
    if (next_is(':')) {
      ++at_;
      if (!has_digit()) return false;
      number(4, 0);
    }
    if (at_ != text_.size()) return false;
    atom.smiles = smiles_of(atom);
    return true;
  }

 private:
  bool next_is(char c) const { return at_ < text_.size() && text_[at_] == c; }
  bool has_digit() const { return at_ < text_.size() && is_digit(text_[at_]); }
  int number(std::size_t n_digits, int otherwise) {
    int value = 0;
    const std::size_t begin = at_;
    for (; has_digit() && at_ - begin < n_digits; ++at_) value = 10 * value + (text_[at_] - '0');
    return at_ == begin ? otherwise : value;
  }
  bool read_element(AtomSymbol& atom) {
    for (const std::size_t n : {std::size_t{2}, std::size_t{1}}) {
      const std::string_view name = text_.substr(std::min(at_, text_.size()), n);
      if (name.size() != n) continue;
      const bool is_aromatic = holds(kAromaticAtoms, name);
      const bool is_element = name == "*" || is_element_symbol(name);
      if (!is_aromatic && !is_element) continue;
      at_ += n;
      written_ = name;
      atom.is_aromatic = is_aromatic;
      atom.element = name;
      if (is_aromatic) atom.element[0] = static_cast<char>(atom.element[0] - 'a' + 'A');
      return true;
    }
    return false;
  }
  int read_charge() {
    if (!next_is('+') && !next_is('-')) return 0;
    const char sign = text_[at_++];
    int size = 1;
    if (has_digit())
      size = number(2, 1);
    else
      for (; next_is(sign); ++at_) ++size;
    return sign == '+' ? size : -size;
  }
  std::string smiles_of(const AtomSymbol& atom) const {
    std::string text = "[";
    if (atom.isotope > 0) text += std::to_string(atom.isotope);
    text += written_;
    if (n_hydrogens_ > 0) text += "H";
    if (n_hydrogens_ > 1) text += std::to_string(n_hydrogens_);
    if (atom.charge != 0) text += atom.charge > 0 ? "+" : "-";
    if (atom.charge > 1 || atom.charge < -1) text += std::to_string(std::abs(atom.charge));
    return text + "]";
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string_view written_;
  int n_hydrogens_ = 0;
};

AtomSymbol residue(std::string_view name) {
  AtomSymbol atom;
  atom.alias = name;
  if (name.size() > 1 && is_digit(name[1])) {
    std::from_chars(name.data() + 1, name.data() + name.size(), atom.isotope);
    atom.smiles = "[" + std::to_string(atom.isotope) + "*]";
  }
  return atom;
}

}  // namespace

AtomSymbol read_symbol(std::string_view symbol) {
  const bool has_brackets = symbol.starts_with('[');
  // As the original does it: the last character goes, whatever it is.
  const std::string_view name =
      has_brackets ? symbol.substr(1, symbol.size() < 2 ? 0 : symbol.size() - 2) : symbol;
  if (is_residue(name)) return residue(name);
  AtomSymbol atom;
  if (has_brackets && symbol.ends_with(']') && BracketAtom(name).read(atom)) {
    if (atom.element == "*") atom.alias = name;
    return atom;
  }
  atom = {};
  const auto* const organic_end = kAromaticAtoms.begin() + kAromaticOutside;
  const bool is_aromatic = std::find(kAromaticAtoms.begin(), organic_end, name) != organic_end;
  if (!has_brackets && (holds(kOrganicAtoms, name) || is_aromatic)) {
    atom.smiles = atom.element = name;
    atom.is_aromatic = is_aromatic;
    if (is_aromatic) atom.element[0] = static_cast<char>(name[0] - 'a' + 'A');
    return atom;
  }
  atom.alias = name;
  return atom;
}

}  // namespace biogpu::models::molscribe
