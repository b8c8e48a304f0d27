#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>

namespace biogpu::models::molscribe {

// A group of atoms that drawings abbreviate, and its SMILES: its first atom is bound to the rest.
struct Abbreviation {
  std::string_view name, smiles;
};

// In the order in which formulas are searched for them.
std::span<const Abbreviation> abbreviations();
std::optional<std::string_view> find_abbreviation(std::string_view name);

// Whether the name is that of a residue (R, R1, X, Ar, ...), which nothing expands.
bool is_residue(std::string_view name);

// Valences of an element in formulas, in the order in which they are tried; {1} for all others.
std::span<const int> valences_of(std::string_view symbol);

}  // namespace biogpu::models::molscribe
