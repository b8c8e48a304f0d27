#pragma once

#include <string>

#include "lib/models/molscribe/graph.hpp"
#include "lib/models/molscribe/preprocess.hpp"

namespace biogpu::tasks {

// What a drawing became.
struct Recognized {
  std::string key;  // of the picture
  models::molscribe::MoleculeGraph graph;
  std::string smiles;
  std::string molfile;  // V2000; empty where the format cannot hold it
  std::string status;   // "ok", or what is wrong, in words with '-', separated by ','
};

// The chemistry of a graph that a picture of this size gave, as it is drawn or by RDKit, whose
// module is there then.
Recognized make_recognized(std::string key, const models::molscribe::PreparedImage& image,
                           models::molscribe::MoleculeGraph graph, bool with_rdkit);

// image, smiles, confidence, n_atoms, n_bonds, status
std::string recognition_header();
void append_recognition_line(std::string& text, const Recognized& recognized);
// An object as the original's Python interface gives it, in one line, with `image` and `status`.
void append_recognition_json(std::string& text, const Recognized& recognized);

}  // namespace biogpu::tasks
