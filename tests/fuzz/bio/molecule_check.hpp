#pragma once

#include <cmath>

#include "lib/bio/molecule/extxyz_writer.hpp"
#include "lib/bio/molecule/molecule_reader.hpp"
#include "lib/structure/elements.hpp"
#include "tests/fuzz/support/expect_error.hpp"

namespace biogpu::fuzz {

// Molecules from any bytes: an Error, or frames whose atoms have all that belongs to them, no more
// than the file has bytes for. What is written of a frame is read back as the same.
inline void check_molecules(const std::uint8_t* bytes, std::size_t n,
                            molecule::MoleculeFormat format) {
  const MemoryFile file(bytes, n);
  expect_error_of(file.path(), [&] {
    const auto reader = molecule::open_molecules(file.path(), format);
    std::size_t n_atoms = 0;
    for (molecule::Molecule molecule; reader->next(molecule);) {
      n_atoms += molecule.n_atoms();
      require(molecule.positions.size() == 3 * molecule.n_atoms(), "atoms without coordinates");
      require(molecule.velocities.empty() || molecule.velocities.size() == 3 * molecule.n_atoms(),
              "atoms without velocities");
      require(molecule.masses.empty() || molecule.masses.size() == molecule.n_atoms(),
              "atoms without masses");
      require(
          molecule.partial_charges.empty() || molecule.partial_charges.size() == molecule.n_atoms(),
          "atoms without partial charges");
      for (const std::int32_t element : molecule.atomic_numbers)
        require(element >= 1 && element <= structure::kMaxAtomicNumber, "an atom of no element");
      for (const double x : molecule.positions)
        require(std::abs(x) <= molecule::kMaxCoordinate, "a coordinate that is no place");
      std::string text;
      molecule::append_extxyz(text, molecule, {});
      const MemoryFile again(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
      molecule::Molecule back;
      require(molecule::open_molecules(again.path(), molecule::MoleculeFormat::xyz)->next(back),
              "a frame that is not read back");
      require(back.positions == molecule.positions && back.box == molecule.box &&
                  back.charge == molecule.charge && back.velocities == molecule.velocities &&
                  back.partial_charges == molecule.partial_charges &&
                  back.masses == molecule.masses && back.atomic_numbers == molecule.atomic_numbers,
              "a frame that is read back as another one");
    }
    require(n_atoms <= n, "more atoms than bytes");
  });
}

}  // namespace biogpu::fuzz
