#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/bio/molecule/molecule.hpp"
#include "lib/core/error.hpp"

namespace biogpu::molecule {

enum class MoleculeFormat { xyz, pdb, sdf };  // xyz: extended or plain

// The format of a suffix in any case, perhaps with .gz: .xyz, .extxyz; .pdb, .ent; .sdf, .sd, .mol.
// None for another suffix.
std::optional<MoleculeFormat> find_molecule_format(const std::string& path);

// Reads molecules one after the other from a file of one format, plain or gzip.
//
// Errors: Error{failed} where the file cannot be read; Error{bad_input} with file, frame and line
// for what is malformed or cut short, and for an element that there is not.
class MoleculeReader {
 public:
  virtual ~MoleculeReader() = default;
  MoleculeReader(const MoleculeReader&) = delete;
  MoleculeReader& operator=(const MoleculeReader&) = delete;

  // False at the end. What was read has passed check_molecule().
  bool next(Molecule& molecule);
  // After an Error{bad_input} of next(): whether the end of the bad molecule is known. Then next()
  // goes on behind it. False where the file itself is damaged, as a gzip member that ends early.
  bool recover();
  // Of the last molecule, from 1.
  std::uint64_t number() const { return number_; }
  // Of the last molecule, for messages: "water.xyz: frame 3".
  std::string place() const;

 protected:
  explicit MoleculeReader(std::string label) : label_(std::move(label)) {}
  virtual bool read(Molecule& molecule) = 0;
  // The same for a read() that failed.
  virtual bool skip_rest() = 0;
  // line: of the file, from 1; 0 where it is not known.
  [[noreturn]] void fail(const std::string& what, std::uint64_t line = 0) const;

 private:
  const std::string label_;
  std::uint64_t number_ = 0;
  bool is_whole_ = true;         // the last molecule was read to its end
  mutable bool is_bad_ = false;  // fail() refused it; else the file itself cannot be read on
};

// path: "-" is standard input.
std::unique_ptr<MoleculeReader> open_molecules(const std::string& path, MoleculeFormat format);
// The format is that of the suffix; of standard input xyz. Throws Error{bad_input} for another one.
std::unique_ptr<MoleculeReader> open_molecules(const std::string& path);

// Each format, in its own file.
std::unique_ptr<MoleculeReader> open_xyz(const std::string& path);
// Of text in memory with line feeds; label takes the place of the path.
std::unique_ptr<MoleculeReader> read_xyz_text(std::string label, std::string text);
std::unique_ptr<MoleculeReader> open_sdf(const std::string& path);
std::unique_ptr<MoleculeReader> open_pdb(const std::string& path);

}  // namespace biogpu::molecule
