#pragma once

#include <string>

#include "apps/biogpu/align/format/letter_rule.hpp"
#include "apps/biogpu/align/format/row.hpp"

namespace biogpu::app {

// The alignment for the eye: target above query with a row of marks between, as `parasail_aligner`
// writes it.

// -O EMBOSS: 50 columns a block, '|' same letter, ':' scores above 0, '.' else; then length,
// identity, similarity, gaps and score. Of a query on the reverse strand the positions fall.
void append_emboss(std::string& out, const Row& row, const align::Options& options,
                   const LetterRule& letters);

// -O SSW: names, score, strand and 1-based positions on it, then 60 columns a block, '|' same
// letter, '*' else. from_zero: paths from end to end begin at 1, as Parasail says; else after their
// free end gaps.
void append_ssw(std::string& out, const Row& row, const align::Options& options,
                const LetterRule& letters, bool from_zero);

}  // namespace biogpu::app
