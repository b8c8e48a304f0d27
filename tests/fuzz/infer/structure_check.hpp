#pragma once

#include <cmath>
#include <string>

#include "lib/structure/residues.hpp"
#include "lib/structure/structure.hpp"
#include "tests/fuzz/support/expect_error.hpp"

namespace biogpu::fuzz {

// A structure from any bytes: an Error, or chains whose residues have what belongs to them, no
// more of them than the file's size and the bound on missing ones allow.
inline void check_structure(const std::uint8_t* bytes, std::size_t n) {
  const MemoryFile file(bytes, n);
  for (const bool ca_only : {false, true})
    expect_error_of(file.path(), [&] {
      const structure::Structure structure = structure::read_structure(file.path(), ca_only);
      require(!structure.chains.empty(), "no chain");
      for (const structure::Chain& chain : structure.chains) {
        require(!chain.sequence.empty(), "an empty chain");
        require(chain.backbone.size() == chain.sequence.size(), "coordinates of no residue");
        require(chain.labels.size() == chain.sequence.size(), "labels of no residue");
        for (const char letter : chain.sequence)
          require(std::string_view("ACDEFGHIKLMNPQRSTVWYX").find(letter) != std::string_view::npos,
                  "a letter of no residue");
        for (const auto& atoms : chain.backbone)
          for (const float x : atoms)
            require(std::isnan(x) || std::abs(x) <= 1e6f, "a coordinate that is no place");
      }
      require(structure.size() <= 5000 + 5 * static_cast<std::int64_t>(n), "too many residues");
    });
  expect_error_of(file.path(), [&] {
    std::size_t n_atoms = 0;
    const auto residues = structure::read_residues(file.path());
    require(!residues.empty() && residues.size() <= n, "no residue, or too many");
    for (const structure::Residue& residue : residues) {
      n_atoms += residue.atoms.size();
      for (const structure::ResidueAtom& atom : residue.atoms)
        for (const float x : atom.position)
          require(std::abs(x) <= 1e6f, "a coordinate of an atom that is no place");
    }
    require(n_atoms <= n, "more atoms than bytes");
  });
}

}  // namespace biogpu::fuzz
