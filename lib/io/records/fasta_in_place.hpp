#pragma once

#include <cstdint>
#include <string_view>

#include "lib/io/sequence_batch.hpp"

namespace biogpu::io::input {

// Adds the records of FASTA text that FastaSource would find, where they stay in place: every
// sequence on at most one line, of less than max_residues, and no line that is blank, has blanks or
// is a comment. False for any other text, which is FastaSource's: what was added is then worthless.
// base: offsets count from here. Counts the lines.
bool add_fasta_in_place(std::string_view text, const char* base, std::uint64_t max_residues,
                        SequenceBatch& batch, std::uint64_t& n_lines);

}  // namespace biogpu::io::input
