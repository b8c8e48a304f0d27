#include "lib/models/molscribe/chemistry/abbreviations.hpp"

#include <algorithm>
#include <cstddef>

namespace biogpu::models::molscribe {
namespace {

constexpr std::array<Abbreviation, 75> kAbbreviations{{
    {"NO2", "[N+](=O)[O-]"},
    {"O2N", "[N+](=O)[O-]"},
    {"CHO", "[CH1](=O)"},
    {"OHC", "[CH1](=O)"},
    {"CO2Et", "[C](=O)OCC"},
    {"COOEt", "[C](=O)OCC"},
    {"OAc", "[O]C(=O)C"},
    {"NHAc", "[NH]C(=O)C"},
    {"Ac", "[C](=O)C"},
    {"OBz", "[O]C(=O)c1ccccc1"},
    {"Bz", "[C](=O)c1ccccc1"},
    {"OBn", "[O]Cc1ccccc1"},
    {"Bn", "[CH2]c1ccccc1"},
    {"NHBoc", "[NH1]C(=O)OC(C)(C)C"},
    {"NBoc", "[NH1]C(=O)OC(C)(C)C"},
    {"Boc", "[C](=O)OC(C)(C)C"},
    {"Cbm", "[C](=O)N"},
    {"Cbz", "[C](=O)OCc1ccccc1"},
    {"Cy", "[CH1]1CCCCC1"},
    {"Fmoc", "[C](=O)OCC1c(cccc2)c2c3c1cccc3"},
    {"Mes", "[c]1c(C)cc(C)cc(C)1"},
    {"OMs", "[O]S(=O)(=O)C"},
    {"Ms", "[S](=O)(=O)C"},
    {"Ph", "[c]1ccccc1"},
    {"PMB", "[CH2]c1ccc(OC)cc1"},
    {"Py", "[c]1ncccc1"},
    {"SEM", "[CH2]CSi(C)(C)C"},
    {"Suc", "[C](=O)CCC(=O)O"},
    {"TBS", "[Si](C)(C)C(C)(C)C"},
    {"TBZ", "[C](=S)c1ccccc1"},
    {"OTf", "[O]S(=O)(=O)C(F)(F)F"},
    {"Tf", "[S](=O)(=O)C(F)(F)F"},
    {"TFA", "[C](=O)C(F)(F)F"},
    {"TMS", "[Si](C)(C)C"},
    {"Ts", "[S](=O)(=O)c1ccc(C)cc1"},
    {"OMe", "[O]C"},
    {"MeO", "[O]C"},
    {"SMe", "[S]C"},
    {"MeS", "[S]C"},
    {"NMe", "[NH]C"},
    {"MeN", "[NH]C"},
    {"Me", "[CH3]"},
    {"OEt", "[O]CC"},
    {"EtO", "[O]CC"},
    {"Et", "[CH2]C"},
    {"C2H5", "[CH2]C"},
    {"Pr", "[CH2]CC"},
    {"nPr", "[CH2]CC"},
    {"n-Pr", "[CH2]CC"},
    {"Bu", "[CH2]CCC"},
    {"nBu", "[CH2]CCC"},
    {"n-Bu", "[CH2]CCC"},
    {"iPr", "[CH1](C)C"},
    {"i-Pr", "[CH1](C)C"},
    {"iBu", "[CH2]C(C)C"},
    {"i-Bu", "[CH2]C(C)C"},
    {"OiBu", "[O]CC(C)C"},
    {"OtBu", "[O]C(C)(C)C"},
    {"tBu", "[C](C)(C)C"},
    {"t-Bu", "[C](C)(C)C"},
    {"CF3", "[C](F)(F)F"},
    {"F3C", "[C](F)(F)F"},
    {"NCF3", "[NH]C(F)(F)F"},
    {"F3CN", "[NH]C(F)(F)F"},
    {"OCF3", "[O]C(F)(F)F"},
    {"F3CO", "[O]C(F)(F)F"},
    {"CCl3", "[C](Cl)(Cl)Cl"},
    {"CO2H", "[C](=O)O"},
    {"HO2C", "[C](=O)O"},
    {"COOH", "[C](=O)O"},
    {"CN", "[C]#N"},
    {"NC", "[C]#N"},
    {"OCH3", "[O]C"},
    {"H3CO", "[O]C"},
    {"SO3H", "[S](=O)(=O)O"},
}};

constexpr std::array<std::string_view, 24> kResidues{
    "R",   "R1", "R2", "R3", "R4", "R5", "R6", "R7", "R8", "R9", "R10", "R11",
    "R12", "Ra", "Rb", "Rc", "Rd", "X",  "Y",  "Z",  "Q",  "A",  "E",   "Ar"};

struct Valences {
  std::string_view symbol;
  std::array<int, 3> values;
  std::size_t n;
};
constexpr std::array<Valences, 11> kValences{{{"Be", {2}, 1},
                                              {"B", {3}, 1},
                                              {"C", {4}, 1},
                                              {"N", {3, 5}, 2},
                                              {"O", {2}, 1},
                                              {"Mg", {2}, 1},
                                              {"Al", {3}, 1},
                                              {"Si", {4}, 1},
                                              {"P", {5, 3}, 2},
                                              {"S", {6, 2, 4}, 3},
                                              {"Ca", {2}, 1}}};

}  // namespace

std::span<const Abbreviation> abbreviations() { return kAbbreviations; }

std::optional<std::string_view> find_abbreviation(std::string_view name) {
  for (const Abbreviation& abbreviation : kAbbreviations)
    if (abbreviation.name == name) return abbreviation.smiles;
  return std::nullopt;
}

bool is_residue(std::string_view name) {
  return std::find(kResidues.begin(), kResidues.end(), name) != kResidues.end();
}

std::span<const int> valences_of(std::string_view symbol) {
  static constexpr std::array<int, 1> kOne{1};
  for (const Valences& valences : kValences)
    if (valences.symbol == symbol) return std::span(valences.values).first(valences.n);
  return kOne;
}

}  // namespace biogpu::models::molscribe
