#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lib/bio/molecule/graph/molecule_graph.hpp"
#include "lib/io/line_reader.hpp"

namespace biogpu::molecule {

// The format of a suffix in any case, perhaps with .gz: .sdf, .sd, .mol; .mol2. None for another.
std::optional<GraphFormat> find_graph_format(const std::string& path);

// Cuts a file, plain or gzip, into the texts of its molecules, which are not looked into.
//
// Errors: those of LineReader.
class MoleculeTexts {
 public:
  // A molecule has at most this many bytes; a larger one gets an error in place of its text.
  static constexpr std::size_t kMaxBytes = 16u << 20;

  // Standard input, "-", is SDF. Throws Error{bad_input} where the suffix tells no format.
  explicit MoleculeTexts(const std::string& path);
  MoleculeTexts(const std::string& path, GraphFormat format);

  // False at the end.
  bool next(MoleculeText& molecule);
  // Of the last molecule, from 1.
  std::uint64_t number() const { return number_; }

 private:
  bool next_sdf(MoleculeText& molecule);
  bool next_mol2(MoleculeText& molecule);
  void append_line(MoleculeText& molecule);

  GraphFormat format_;
  io::LineReader lines_;
  std::string line_;
  bool has_line_ = false;  // of the next molecule
  std::uint64_t number_ = 0;
};

}  // namespace biogpu::molecule
