#pragma once

#include <string>
#include <vector>

#include "lib/bio/molecule/molecule_reader.hpp"
#include "tests/unit/io/files.hpp"

namespace biogpu::test {

// All molecules of a file with this text.
inline std::vector<molecule::Molecule> read_molecules(const std::string& name,
                                                      const std::string& text) {
  const TempFolder folder;
  const auto reader = molecule::open_molecules(folder.file(name, text));
  std::vector<molecule::Molecule> molecules;
  for (molecule::Molecule molecule; reader->next(molecule);) molecules.push_back(molecule);
  return molecules;
}

// What is wrong with a file, behind the folder's name; empty where it is accepted.
inline std::string molecule_error(const std::string& name, const std::string& text) {
  try {
    read_molecules(name, text);
  } catch (const Error& error) {
    const std::string what = error.what();
    return error.code() == ErrorCode::bad_input ? what.substr(what.find(name)) : "another kind";
  }
  return {};
}

}  // namespace biogpu::test
