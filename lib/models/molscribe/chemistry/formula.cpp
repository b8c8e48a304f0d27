#include "lib/models/molscribe/chemistry/formula.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "lib/models/molscribe/characters.hpp"
#include "lib/models/molscribe/chemistry/abbreviations.hpp"

namespace biogpu::models::molscribe {
namespace {

constexpr std::int64_t kMaxCharacters = 20;
constexpr std::int64_t kMaxCount = 100000;
constexpr std::int64_t kMaxTrials = 10000;
constexpr int kMaxDepth = 900;  // Python's programs end with an exception at about this depth

template <class Is>
std::size_t run_of(std::string_view text, std::size_t at, const Is& is) {
  std::size_t n = 0;
  while (at + n < text.size() && is(text[at + n])) ++n;
  return n;
}
bool is_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

// The first of the alternatives that fits at the place: an abbreviation, R with digits, an element,
// a letter, a number, a parenthesis; 0 characters where none does.
std::size_t token_length(std::string_view text, std::size_t at) {
  for (const Abbreviation& abbreviation : abbreviations())
    if (text.substr(at).starts_with(abbreviation.name)) return abbreviation.name.size();
  const char c = text[at];
  if (c == 'R') return 1 + run_of(text, at + 1, is_digit);
  if (is_upper(c)) return 1 + run_of(text, at + 1, is_lower);
  if (is_digit(c)) return run_of(text, at, is_digit);
  return c == '(' || c == ')' ? 1 : 0;
}

std::vector<std::string> tokens_of(std::string_view formula) {
  std::vector<std::string> tokens;
  for (std::size_t at = 0; at < formula.size();) {
    const std::size_t n = token_length(formula, at);
    if (n > 0) tokens.emplace_back(formula.substr(at, n));
    at += std::max<std::size_t>(n, 1);
  }
  return tokens;
}

// A symbol or, in parentheses, a formula; and how many of them.
struct Element {
  std::string symbol;
  std::vector<Element> inner;
  bool is_nested = false;
  std::int64_t n = 1;
};

std::int64_t count_of(const std::string& digits) {
  std::int64_t n = 0;
  for (const char c : digits) n = std::min<std::int64_t>(10 * n + (c - '0'), kMaxCount + 1);
  return n;
}

std::vector<Element> parse(std::span<const std::string> tokens) {
  std::vector<Element> elements;
  for (std::size_t i = 0; i < tokens.size();) {
    Element element;
    std::size_t j = i;
    if (tokens[i] == "(") {
      while (j < tokens.size() && tokens[j] != ")") ++j;
      element.is_nested = true;
      element.inner = parse(tokens.subspan(i + 1, j - i - 1));
    } else {
      element.symbol = tokens[i];
    }
    ++j;
    if (j < tokens.size() && is_number(tokens[j])) element.n = count_of(tokens[j++]);
    elements.push_back(std::move(element));
    i = j;
  }
  return elements;
}

// Atoms in a line: a symbol, or a line of its own, which is shared where it stands several times.
struct Item;
using Items = std::vector<Item>;
struct Item {
  std::string symbol;
  std::shared_ptr<const Items> inner;
};

// What the original leaves of parentheses behind a carbon with a number: pairs, which it reads as
// symbols that mean nothing.
Item unread_pairs(const Element& element) {
  auto items = std::make_shared<Items>();
  for (const Element& inner : element.inner) {
    if (inner.is_nested) throw std::runtime_error("parentheses behind a number of carbons");
    items->push_back({"('" + inner.symbol + "', " + std::to_string(inner.n) + ")", nullptr});
  }
  return {"", std::move(items)};
}

Items expand(const std::vector<Element>& elements) {
  Items items;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const Element& element = elements[i];
    if (element.n > kMaxCount) continue;
    if (!element.is_nested && element.symbol == "C" && element.n > 1 && i + 1 < elements.size()) {
      const Element& next = elements[i + 1];
      if (next.n > kMaxCount) continue;
      ++i;
      const Item of_next = next.is_nested ? unread_pairs(next) : Item{next.symbol, nullptr};
      for (std::int64_t k = 0; k < element.n; ++k) {
        items.push_back({"C", nullptr});
        items.insert(items.end(), static_cast<std::size_t>(next.n / element.n), of_next);
      }
      items.insert(items.end(), static_cast<std::size_t>(next.n % element.n), of_next);
      continue;
    }
    const Item item = element.is_nested
                          ? Item{"", std::make_shared<const Items>(expand(element.inner))}
                          : Item{element.symbol, nullptr};
    items.insert(items.end(), static_cast<std::size_t>(element.n), item);
  }
  return items;
}

std::string symbol_smiles(const std::string& symbol) {
  if (const auto smiles = find_abbreviation(symbol)) return std::string(*smiles);
  const std::string rest = symbol.substr(1);
  if (is_residue(symbol) || (symbol[0] == 'R' && is_number(rest)))
    return is_number(rest) ? "[" + rest + "*]" : "*";
  return "[" + symbol + "]";
}

const char* bond_symbol(int order) {
  return order == 0 ? "." : order == 2 ? "=" : order == 3 ? "#" : "";
}

struct Written {
  std::string smiles;
  int bonds_left = 0;
  std::int64_t n_trials = 1;
  bool success = false;
};

// Atoms of a line one after the other: each is bound to the current one, which has bonds left; one
// that takes all of them becomes the current one.
class LineWriter {
 public:
  LineWriter(const Items& items, int direction, int& depth)
      : items_(items), direction_(direction), depth_(depth) {}

  Written write(int n_bonds) {
    const std::int64_t n = std::ssize(items_);
    return direction_ > 0 ? go_on("", n_bonds, -1, 0) : go_on("", n_bonds, n, n - 1);
  }

 private:
  class Deeper {
   public:
    explicit Deeper(int& depth) : depth_(depth) {
      if (++depth_ > kMaxDepth) {
        --depth_;
        throw std::runtime_error("a formula of too many atoms");
      }
    }
    ~Deeper() { --depth_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;

   private:
    int& depth_;
  };

  // at: the current atom; next: the one to be added.
  Written go_on(const std::string& smiles, int bonds_left, std::int64_t at, std::int64_t next) {
    const Deeper deeper(depth_);
    const bool at_end = next == (direction_ > 0 ? std::ssize(items_) : -1);
    if (at_end || bonds_left <= 0) return {smiles, bonds_left, 1, at_end};
    const Item& item = items_[static_cast<std::size_t>(next)];
    return item.inner ? add_line(*item.inner, smiles, bonds_left, at, next)
                      : add_atom(item.symbol, smiles, bonds_left, at, next);
  }

  // A line in parentheses takes one bond.
  Written add_line(const Items& line, const std::string& smiles, int bonds_left, std::int64_t at,
                   std::int64_t next) {
    const Written inner = LineWriter(line, direction_, depth_).write(1);
    if (!inner.success) {
      const bool is_last = bonds_left <= 1;
      return {smiles, is_last ? inner.bonds_left : bonds_left, 1 + inner.n_trials, false};
    }
    Written written;
    if (bonds_left > 1) {
      const std::string bond = inner.bonds_left > 0 ? bond_symbol(inner.bonds_left + 1) : "";
      written =
          go_on(smiles + "(" + bond + inner.smiles + ")", bonds_left - 1, at, next + direction_);
    } else {
      written = go_on(smiles + inner.smiles, inner.bonds_left, next, next + direction_);
    }
    written.n_trials += 1 + inner.n_trials;
    return written;
  }

  Written add_atom(const std::string& symbol, const std::string& smiles, int bonds_left,
                   std::int64_t at, std::int64_t next) {
    std::int64_t n_trials = 1;
    for (const int valence : valences_of(symbol)) {
      const bool is_branch = bonds_left > valence;
      const std::string bond = at >= 0 ? bond_symbol(is_branch ? valence : bonds_left) : "";
      const std::string atom = bond + symbol_smiles(symbol);
      Written written =
          is_branch ? go_on(smiles + "(" + atom + ")", bonds_left - valence, at, next + direction_)
                    : go_on(smiles + atom, valence - bonds_left, next, next + direction_);
      n_trials += written.n_trials;
      if (written.success) {
        written.n_trials = n_trials;
        return written;
      }
      if (n_trials > kMaxTrials) break;
    }
    return {smiles, bonds_left, n_trials, false};
  }

  const Items& items_;
  const int direction_;
  int& depth_;
};

}  // namespace

std::optional<std::string> formula_smiles(std::string_view symbol, int n_bonds) {
  if (const auto smiles = find_abbreviation(symbol)) return std::string(*smiles);
  if (n_characters(symbol) > kMaxCharacters) return std::nullopt;
  const std::vector<std::string> tokens = tokens_of(symbol);
  const Items items = expand(parse(tokens));
  int depth = 0;
  for (const int direction : {1, -1})
    if (Written written = LineWriter(items, direction, depth).write(n_bonds); written.success)
      return std::move(written.smiles);
  return std::nullopt;
}

}  // namespace biogpu::models::molscribe
