#pragma once

#include <optional>
#include <string>

#include "apps/biogpu/align/options/flags.hpp"
#include "lib/align/e_value.hpp"

namespace biogpu::app {

// What the scoring options imply; automatic when they leave it open.
Alphabet stated_alphabet(const AlignFlags& flags);

// alphabet: dna or protein. flags.resolve() comes first.
align::Options make_options(const AlignFlags& flags, Alphabet alphabet);

// Those published for the scoring of these options; empty where there are none, and for alignments
// that are not local.
std::optional<align::KarlinAltschul> find_parameters(const AlignFlags& flags, Alphabet alphabet);

// One line for the log: "dna, match 2, mismatch -3, gap open 5, extend 2".
std::string describe_scoring(const AlignFlags& flags, Alphabet alphabet);

}  // namespace biogpu::app
