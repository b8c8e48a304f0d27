#include "lib/models/molscribe/graph.hpp"

#include <algorithm>
#include <cmath>

#include "lib/models/molscribe/characters.hpp"

namespace biogpu::models::molscribe {
namespace {

class TokenReader {
 public:
  TokenReader(const Vocabulary& vocabulary, std::span<const std::int32_t> tokens,
              std::span<const float> log_probabilities)
      : vocabulary_(vocabulary), tokens_(tokens), log_probabilities_(log_probabilities) {}

  void read(MoleculeGraph& graph) const {
    for (std::size_t i = 0; i < tokens_.size();) {
      const std::int32_t id = tokens_[i];
      if (id == Vocabulary::kStop || id == Vocabulary::kPad) break;
      if (vocabulary_.begins_atom(id)) {
        i = read_atom(i, graph);
      } else {
        if (!vocabulary_.is_x(id) && !vocabulary_.is_y(id)) graph.tokens += vocabulary_.text(id);
        ++i;
      }
    }
  }

 private:
  bool is(std::size_t i, const char* text) const {
    return i < tokens_.size() && vocabulary_.is_symbol(tokens_[i]) &&
           vocabulary_.text(tokens_[i]) == text;
  }
  std::size_t symbol_end(std::size_t i) const {
    if (!is(i, "["))
      return i + ((is(i, "C") && is(i + 1, "l")) || (is(i, "B") && is(i + 1, "r")) ? 2 : 1);
    std::size_t end = i + 1;
    while (end < tokens_.size() && vocabulary_.is_symbol(tokens_[end]))
      if (is(end++, "]")) break;
    return end;
  }
  // Where to go on.
  std::size_t read_atom(std::size_t i, MoleculeGraph& graph) const {
    const std::size_t end = symbol_end(i);
    GraphAtom atom;
    for (std::size_t k = i; k < end; ++k) atom.symbol += vocabulary_.text(tokens_[k]);
    graph.tokens += atom.symbol;
    if (end + 2 >= tokens_.size() || !vocabulary_.is_x(tokens_[end]) ||
        !vocabulary_.is_y(tokens_[end + 1]))
      return end;
    atom.x = vocabulary_.coordinate(tokens_[end]);
    atom.y = vocabulary_.coordinate(tokens_[end + 1]);
    atom.state = static_cast<std::int64_t>(end + 2);
    atom.confidence = confidence(atom.symbol, end);
    graph.atoms.push_back(std::move(atom));
    return end + 2;
  }
  // Of as many tokens before `end` as the symbol has characters, as the original counts them:
  // <unk> is one token of five characters. Places before the first count from the end, but not
  // beyond the first.
  double confidence(const std::string& symbol, std::size_t end) const {
    const std::int64_t n = n_characters(symbol);
    const std::int64_t begin = static_cast<std::int64_t>(end) - n;
    double product = 1;
    std::int64_t k = begin < 0 ? begin + std::ssize(tokens_) : begin;
    for (k = std::max<std::int64_t>(k, 0); k < static_cast<std::int64_t>(end); ++k)
      product *= std::exp(static_cast<double>(log_probabilities_[static_cast<std::size_t>(k)]));
    return std::pow(product, 1.0 / static_cast<double>(n));
  }

  const Vocabulary& vocabulary_;
  std::span<const std::int32_t> tokens_;
  std::span<const float> log_probabilities_;
};

}  // namespace

std::size_t MoleculeGraph::n_bonds() const {
  std::size_t n = 0;
  for (std::size_t i = 0; i < atoms.size(); ++i)
    for (std::size_t j = i + 1; j < atoms.size(); ++j) n += bond(i, j) != kNoBond;
  return n;
}

MoleculeGraph read_tokens(const Vocabulary& vocabulary, std::span<const std::int32_t> tokens,
                          std::span<const float> log_probabilities) {
  MoleculeGraph graph;
  graph.n_tokens = std::ssize(tokens);
  double sum = 0;
  for (const float log_probability : log_probabilities) sum += log_probability;
  graph.confidence =
      tokens.empty() ? 1 : std::exp(sum / static_cast<double>(log_probabilities.size()));
  TokenReader(vocabulary, tokens, log_probabilities).read(graph);
  return graph;
}

void set_bonds(std::span<const float> probabilities, MoleculeGraph& graph) {
  const std::size_t n = graph.atoms.size();
  std::vector<double> p(probabilities.begin(), probabilities.end());
  const auto at = [&](std::size_t i, std::size_t j) { return &p[(i * n + j) * kBondKinds]; };
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = i + 1; j < n; ++j) {
      double* const here = at(i, j);
      double* const back = at(j, i);
      for (std::size_t k = 0; k < kSolidWedge; ++k) here[k] = back[k] = (here[k] + back[k]) / 2;
      here[kSolidWedge] = back[kDashedWedge] = (here[kSolidWedge] + back[kDashedWedge]) / 2;
      here[kDashedWedge] = back[kSolidWedge] = (here[kDashedWedge] + back[kSolidWedge]) / 2;
    }
  graph.bonds.clear();
  graph.bond_confidences.clear();
  double product = 1;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      const double* const of = at(i, j);
      const double* const best = std::max_element(of, of + kBondKinds);
      graph.bonds.push_back(static_cast<std::uint8_t>(best - of));
      graph.bond_confidences.push_back(*best);
      product *= *best;
    }
  graph.confidence *= std::sqrt(product);
}

}  // namespace biogpu::models::molscribe
