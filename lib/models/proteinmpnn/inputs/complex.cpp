#include "lib/models/proteinmpnn/inputs/complex.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"

namespace biogpu::models::proteinmpnn {
namespace {

constexpr std::int32_t kChainJump = 100;

void add_chain(Complex& complex, const structure::Chain& chain, bool designed) {
  const auto number = static_cast<std::int32_t>(complex.chains.size());
  complex.chains.push_back(chain.name);
  for (std::size_t i = 0; i < chain.sequence.size(); ++i) {
    const float* const backbone = chain.backbone[i].data();
    const float* const first = complex.atoms == 1 ? backbone + 3 : backbone;
    bool present = true;
    for (int x = 0; x < 3 * complex.atoms; ++x) {
      present = present && std::isfinite(first[x]);
      complex.coordinates.push_back(std::isnan(first[x]) ? 0.0f : first[x]);
    }
    complex.present.push_back(present ? 1 : 0);
    complex.designed.push_back(designed ? 1 : 0);
    complex.index.push_back(static_cast<std::int32_t>(complex.n++) + kChainJump * number);
    complex.chain.push_back(number);
    complex.letters.push_back(static_cast<std::uint8_t>(letter_index(chain.sequence[i])));
  }
  complex.begin.push_back(complex.n);
}

}  // namespace

std::string shown_chain(const std::string& name) { return quoted(name.empty() ? " " : name); }

std::string shown_chains(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    if (!text.empty()) text += ' ';
    text += name.empty() ? shown_chain(name) : shortened(name);
  }
  return text;
}

int letter_index(char letter) {
  const auto at = kLetters.find(letter);
  return at == std::string_view::npos ? -1 : static_cast<int>(at);
}

Complex make_complex(const structure::Structure& structure, const ChainChoice& choice, bool ca_only,
                     const std::string& path) {
  std::vector<std::string> designed = choice.designed, fixed = choice.fixed;
  if (!choice.given)
    for (const structure::Chain& chain : structure.chains) designed.push_back(chain.name);
  std::sort(designed.begin(), designed.end());
  std::sort(fixed.begin(), fixed.end());
  Complex complex;
  complex.name = structure.name;
  complex.atoms = ca_only ? 1 : structure::kBackboneAtoms;
  complex.begin.push_back(0);
  for (const auto* const names : {&designed, &fixed})
    for (const std::string& name : *names) {
      const structure::Chain* const chain = structure.find(name);
      if (chain == nullptr) {
        std::vector<std::string> all;
        for (const structure::Chain& c : structure.chains) all.push_back(c.name);
        throw Error(ErrorCode::bad_input, fmt::format("{}: has no chain {}; its chains are {}",
                                                      path, shown_chain(name), shown_chains(all)));
      }
      if (std::find(complex.chains.begin(), complex.chains.end(), name) != complex.chains.end())
        throw Error(ErrorCode::bad_input,
                    fmt::format("{}: chain {} is asked for twice", path, shown_chain(name)));
      add_chain(complex, *chain, names == &designed);
      if (names == &designed) ++complex.n_designed;
    }
  return complex;
}

std::string designed_text(const Complex& complex, const std::vector<std::uint8_t>& letters) {
  std::string text;
  for (std::size_t c = 0; c < complex.n_designed; ++c) {
    if (c > 0) text += '/';
    for (std::int64_t i = complex.begin[c]; i < complex.begin[c + 1]; ++i)
      text += kLetters[letters[static_cast<std::size_t>(i)]];
  }
  return text;
}

}  // namespace biogpu::models::proteinmpnn
