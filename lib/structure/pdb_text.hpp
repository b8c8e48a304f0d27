#pragma once

#include <string>

namespace biogpu::structure {

// Makes text in PDB format ready for a reader that takes what it can of a field: throws
// Error{bad_input} with file, record and line where an atom has fewer columns than coordinates need
// or a coordinate is no number, and blanks all lines but atoms and the ends of chains and models.
void prepare_pdb(const std::string& path, std::string& text);

}  // namespace biogpu::structure
