// Residues that share a letter.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "lib/core/quote.hpp"
#include "lib/models/proteinmpnn/inputs/design_inputs.hpp"
#include "lib/models/proteinmpnn/inputs/design_json.hpp"

namespace biogpu::models::proteinmpnn {

void DesignInputs::tie(const Complex& complex, Constraints& constraints) const {
  constraints.tied_weight.assign(static_cast<std::size_t>(complex.n), 1.0f);
  std::vector<std::uint8_t> taken(static_cast<std::size_t>(complex.n), 0);
  for (const Json& item : entry(tied_.path, tied_.json, complex.name)) {
    std::vector<std::int32_t> group;
    for (const auto& [chain, value] : item.items()) {
      const auto found = std::find(complex.chains.begin(), complex.chains.end(), chain);
      if (found == complex.chains.end())
        throw_bad_entry(tied_.path, complex.name,
                        fmt::format("has no chain {}", biogpu::quoted(chain)));
      const auto c = static_cast<std::size_t>(found - complex.chains.begin());
      const bool weighted = value.at(0).is_array();
      const Json& positions = weighted ? value.at(0) : value;
      const std::vector<std::int64_t> numbers = positions_of(positions);
      for (std::size_t p = 0; p < numbers.size(); ++p) {
        const std::size_t i = residue_at(tied_.path, complex, c, numbers[p]);
        if (taken[i] != 0)
          throw_bad_entry(tied_.path, complex.name,
                          fmt::format("position {} of chain {} is tied twice", numbers[p], chain));
        taken[i] = 1;
        if (weighted) constraints.tied_weight[i] = float_of(value.at(1).at(p));
        group.push_back(static_cast<std::int32_t>(i));
      }
    }
    if (!group.empty()) constraints.tied.push_back(std::move(group));
  }
}

void DesignInputs::tie_chains(const Complex& complex, Constraints& constraints) const {
  const std::int64_t n = complex.begin[1] - complex.begin[0];
  for (std::size_t c = 1; c < complex.n_designed; ++c)
    if (complex.begin[c + 1] - complex.begin[c] != n)
      throw_bad_entry("--homooligomer", complex.name,
                      fmt::format("chain {} has {} residues and chain {} has {}", complex.chains[0],
                                  n, complex.chains[c], complex.begin[c + 1] - complex.begin[c]));
  constraints.tied.clear();
  for (std::int64_t p = 0; p < n; ++p) {
    std::vector<std::int32_t> group;
    for (std::size_t c = 0; c < complex.n_designed; ++c) {
      const std::int64_t i = complex.begin[c] + p;
      // All would take the X of a residue that is not there.
      if (complex.present[static_cast<std::size_t>(i)] != 0)
        group.push_back(static_cast<std::int32_t>(i));
    }
    if (group.size() > 1) constraints.tied.push_back(std::move(group));
  }
}

// A group has one letter: a residue that keeps its own would lose it to one that is drawn.
void DesignInputs::check_tied(const Complex& complex, const Constraints& constraints) const {
  const std::string label = request_.homooligomer ? "--homooligomer" : tied_.path;
  const auto place = [&](std::int32_t i) {
    const auto c = static_cast<std::size_t>(complex.chain[static_cast<std::size_t>(i)]);
    return fmt::format("position {} of chain {}", i - complex.begin[c] + 1, complex.chains[c]);
  };
  for (const auto& group : constraints.tied) {
    std::int32_t kept = -1, drawn = -1;
    for (const std::int32_t i : group) {
      const auto at = static_cast<std::size_t>(i);
      if (complex.present[at] == 0) continue;
      if (constraints.free[at] != 0) {
        drawn = i;
      } else if (kept >= 0 &&
                 complex.letters[at] != complex.letters[static_cast<std::size_t>(kept)]) {
        throw_bad_entry(
            label, complex.name,
            fmt::format("{} and {} are tied and keep different residues", place(kept), place(i)));
      } else {
        kept = i;
      }
    }
    if (kept >= 0 && drawn >= 0)
      throw_bad_entry(
          label, complex.name,
          fmt::format("{} keeps its residue and is tied to {}, which is drawn; fix both or neither",
                      place(kept), place(drawn)));
  }
}

}  // namespace biogpu::models::proteinmpnn
