#pragma once

#include "apps/biogpu/align/input/units.hpp"
#include "apps/biogpu/align/options/flags.hpp"

namespace biogpu::app {

// What the letters of some sequences say; automatic where they are too few or say nothing.
Alphabet look_of(const io::SequenceBatch& batch);

// dna or protein: what the options say, else what the first queries look like, else the first
// targets, else whether nine letters of ten are A, C, G, T, U or N.
//
// Throws Error{bad_input} where one file looks like DNA and the other like proteins, or where
// --match, --mismatch, --rna or a preset score DNA and a file looks like proteins. --alphabet says
// that this is meant.
Alphabet choose_alphabet(const AlignFlags& flags, const UnitReader& reader);

}  // namespace biogpu::app
