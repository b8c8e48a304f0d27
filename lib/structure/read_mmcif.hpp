#pragma once

#include <string>

#include "lib/structure/read_parsed.hpp"

namespace biogpu::structure {

// Atoms of the text of an mmCIF file and the kinds of its entities. Columns of _atom_site that are
// missing or empty are filled where others tell the same: numbers and names of the author by those
// of the label, an occupancy of 1 (everywhere
// where occupancies are ignored), one model. Numbers may be in quotes.
//
// Errors: Error{bad_input} with the path for a file without _atom_site, with it in several data
// blocks, without a column that nothing tells, or with a whole number that no int takes; what gemmi
// throws for text that is no CIF.
gemmi::Structure read_mmcif(const std::string& path, const std::string& text,
                            Occupancies occupancies);

}  // namespace biogpu::structure
