#include "lib/bio/molecule/atomic_mass.hpp"

#include <array>

#include "lib/structure/elements.hpp"

namespace biogpu::molecule {
namespace {

constexpr std::array<double, structure::kMaxAtomicNumber> kMasses{
    1.008,        4.002602,  6.94,        9.0121831, 10.81,      12.011,    14.007,       15.999,
    18.998403163, 20.1797,   22.98976928, 24.305,    26.9815385, 28.085,    30.973761998, 32.06,
    35.45,        39.948,    39.0983,     40.078,    44.955908,  47.867,    50.9415,      51.9961,
    54.938044,    55.845,    58.933194,   58.6934,   63.546,     65.38,     69.723,       72.63,
    74.921595,    78.971,    79.904,      83.798,    85.4678,    87.62,     88.90584,     91.224,
    92.90637,     95.95,     97.90721,    101.07,    102.9055,   106.42,    107.8682,     112.414,
    114.818,      118.71,    121.76,      127.6,     126.90447,  131.293,   132.90545196, 137.327,
    138.90547,    140.116,   140.90766,   144.242,   144.91276,  150.36,    151.964,      157.25,
    158.92535,    162.5,     164.93033,   167.259,   168.93422,  173.054,   174.9668,     178.49,
    180.94788,    183.84,    186.207,     190.23,    192.217,    195.084,   196.966569,   200.592,
    204.38,       207.2,     208.9804,    208.98243, 209.98715,  222.01758, 223.01974,    226.02541,
    227.02775,    232.0377,  231.03588,   238.02891, 237.04817,  244.06421, 243.06138,    247.07035,
    247.07031,    251.07959, 252.083,     257.09511, 258.09843,  259.101,   262.11,       267.122,
    268.126,      271.134,   270.133,     269.1338,  278.156,    281.165,   281.166,      285.177,
    286.182,      289.19,    289.194,     293.204,   293.208,    294.214};

struct Isotope {
  std::int32_t atomic_number, n_nucleons;
  double mass;
};

// Isotopes that molecules are labelled with, and the light ones.
constexpr std::array kIsotopes{
    Isotope{1, 1, 1.007825032},   Isotope{1, 2, 2.014101778},   Isotope{1, 3, 3.016049281},
    Isotope{2, 3, 3.016029322},   Isotope{2, 4, 4.002603254},   Isotope{3, 6, 6.015122887},
    Isotope{3, 7, 7.016003434},   Isotope{5, 10, 10.012936862}, Isotope{5, 11, 11.009305167},
    Isotope{6, 11, 11.011432597}, Isotope{6, 12, 12.0},         Isotope{6, 13, 13.003354835},
    Isotope{6, 14, 14.003241989}, Isotope{7, 13, 13.005738609}, Isotope{7, 14, 14.003074004},
    Isotope{7, 15, 15.000108899}, Isotope{8, 15, 15.003065636}, Isotope{8, 16, 15.994914619},
    Isotope{8, 17, 16.999131757}, Isotope{8, 18, 17.999159613}, Isotope{9, 18, 18.000937325},
    Isotope{9, 19, 18.998403163}};

}  // namespace

double isotope_mass(std::int32_t atomic_number, std::int32_t n_nucleons) {
  for (const Isotope& one : kIsotopes)
    if (one.atomic_number == atomic_number && one.n_nucleons == n_nucleons) return one.mass;
  const bool exists = n_nucleons >= atomic_number && n_nucleons <= 3 * atomic_number + 4;
  return exists ? n_nucleons : 0;
}

double atomic_mass(std::int32_t atomic_number) {
  return kMasses.at(static_cast<std::size_t>(atomic_number) - 1);
}

}  // namespace biogpu::molecule
