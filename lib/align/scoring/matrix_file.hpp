#pragma once

#include <string>

#include "lib/align/scoring/substitution_matrices.hpp"

namespace biogpu::align {

// Reads a matrix in NCBI's text form, as BLAST, EMBOSS and Parasail read it: lines beginning with
// '#' are comments, the first other line holds the letters of the columns, each further line a
// letter and its row of scores, in the same order. Rows are query residues, columns target
// residues; the matrix need not be symmetric. '*' scores every byte that is no letter; without '*'
// such a byte scores the lowest value of the matrix against all. name: as given.
//
// Errors: Error{failed} where the file cannot be read; Error{bad_input} with file and line where it
// is no such matrix, has a letter twice, more than 32 classes or a score beyond -127 .. 127.
SubstitutionMatrix read_matrix(const std::string& path);

}  // namespace biogpu::align
