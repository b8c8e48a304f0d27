#include "lib/structure/elements.hpp"

#include <array>
#include <cctype>

namespace biogpu::structure {
namespace {

constexpr std::array<std::string_view, kMaxAtomicNumber> kSymbols{
    "H",  "He", "Li", "Be", "B",  "C",  "N",  "O",  "F",  "Ne", "Na", "Mg", "Al", "Si", "P",
    "S",  "Cl", "Ar", "K",  "Ca", "Sc", "Ti", "V",  "Cr", "Mn", "Fe", "Co", "Ni", "Cu", "Zn",
    "Ga", "Ge", "As", "Se", "Br", "Kr", "Rb", "Sr", "Y",  "Zr", "Nb", "Mo", "Tc", "Ru", "Rh",
    "Pd", "Ag", "Cd", "In", "Sn", "Sb", "Te", "I",  "Xe", "Cs", "Ba", "La", "Ce", "Pr", "Nd",
    "Pm", "Sm", "Eu", "Gd", "Tb", "Dy", "Ho", "Er", "Tm", "Yb", "Lu", "Hf", "Ta", "W",  "Re",
    "Os", "Ir", "Pt", "Au", "Hg", "Tl", "Pb", "Bi", "Po", "At", "Rn", "Fr", "Ra", "Ac", "Th",
    "Pa", "U",  "Np", "Pu", "Am", "Cm", "Bk", "Cf", "Es", "Fm", "Md", "No", "Lr", "Rf", "Db",
    "Sg", "Bh", "Hs", "Mt", "Ds", "Rg", "Cn", "Nh", "Fl", "Mc", "Lv", "Ts", "Og"};

bool equal_letters(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (std::tolower(static_cast<unsigned char>(a[i])) !=
        std::tolower(static_cast<unsigned char>(b[i])))
      return false;
  return true;
}

}  // namespace

std::string_view element_symbol(int atomic_number) {
  return kSymbols.at(static_cast<std::size_t>(atomic_number - 1));
}

int atomic_number_of(std::string_view symbol) {
  for (std::size_t i = 0; i < kSymbols.size(); ++i)
    if (equal_letters(kSymbols[i], symbol)) return static_cast<int>(i) + 1;
  return 0;
}

std::string element_name(int atomic_number) {
  if (atomic_number < 1 || atomic_number > kMaxAtomicNumber)
    return "element " + std::to_string(atomic_number);
  return std::string(element_symbol(atomic_number));
}

}  // namespace biogpu::structure
