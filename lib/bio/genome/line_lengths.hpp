#pragma once

#include <string>

namespace biogpu::genome {

// Throws Error{bad_input} with file, record and line where FASTA cannot have an index: a line of a
// sequence that is not its last is longer or shorter than its first, a sequence has no name, or two
// have the same. htslib refuses such files too, but does not say where.
void require_equal_lines(const std::string& path);

}  // namespace biogpu::genome
