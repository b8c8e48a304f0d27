#include "lib/models/dualbind/complex.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "lib/core/error.hpp"

namespace biogpu::models::dualbind {
namespace {

constexpr std::size_t kMinAtoms = 3;       // of a ligand: those of the reference's inference data
constexpr std::size_t kMaxTokens = 30000;  // its attention has a line of this length a token

}  // namespace

Complex make_complex(molecule::MoleculeGraph ligand, const Protein& protein,
                     std::size_t pocket_size) {
  const std::size_t n = ligand.n_atoms();
  if (n < kMinAtoms)
    throw Error(ErrorCode::bad_input,
                fmt::format("has {} heavy atoms; expected {} or more", n, kMinAtoms));
  std::array<double, 3> centre{};
  for (std::size_t i = 0; i < ligand.positions.size(); ++i)
    centre[i % 3] += ligand.positions[i] / static_cast<double>(n);
  Complex complex;
  complex.pocket = choose_pocket(protein, centre, pocket_size);
  for (std::size_t a = 0; a < n; ++a) {
    float square = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      const auto x = static_cast<float>(ligand.positions[3 * a + i]);
      square += x * x;
    }
    if (std::sqrt(square) > kOrigin) complex.ligand_tokens.push_back(static_cast<std::int32_t>(a));
  }
  complex.ligand = std::move(ligand);
  if (complex.n_tokens() > kMaxTokens)
    throw Error(ErrorCode::bad_input,
                fmt::format("has {} atoms with its pocket; expected {} at most", complex.n_tokens(),
                            kMaxTokens));
  return complex;
}

}  // namespace biogpu::models::dualbind
