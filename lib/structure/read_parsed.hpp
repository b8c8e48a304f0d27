#pragma once

#include <string>

namespace gemmi {
struct Structure;
}

namespace biogpu::structure {

enum class Occupancies { ignored, read };  // of mmCIF; those of PDB are always there

// Atoms of the text of a PDB or mmCIF file, which it is by content; text is changed. Errors:
// Error{bad_input} with the path.
gemmi::Structure read_parsed(const std::string& path, std::string& text,
                             Occupancies occupancies = Occupancies::ignored);

}  // namespace biogpu::structure
