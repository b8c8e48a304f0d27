#include "lib/c_api/potential.h"

#include <array>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"

namespace {

struct Free {
  void operator()(biogpu_potential* potential) const { biogpu_potential_free(potential); }
};
using Potential = std::unique_ptr<biogpu_potential, Free>;

Potential load(const std::string& name, const char* precision = "fp64") {
  biogpu_potential* potential = nullptr;
  const std::string folder = BIOGPU_TEST_DATA "/models/tensornet/" + name;
  INFO(biogpu_potential_error());
  REQUIRE(biogpu_potential_load(folder.c_str(), "cpu", precision, 1, &potential) == 0);
  return Potential(potential);
}

bool says(const char* text) { return std::strstr(biogpu_potential_error(), text) != nullptr; }

// Silicon and oxygen in a box that is narrower than the cutoff.
struct Crystal {
  std::vector<int32_t> numbers{14, 8, 8};
  std::vector<double> positions{0.1, 0.2, 0.1, 1.4, 1.5, 0.3, 0.2, 1.6, 1.7};
  std::array<double, 9> box{3.2, 0, 0, 0.3, 3.4, 0, 0, 0.2, 3.1};
  biogpu_atoms atoms() const {
    return {3, numbers.data(), positions.data(), box.data(), nullptr, nullptr};
  }
};

}  // namespace

TEST_CASE("c_api.potential: forces and virial are slopes of the energy", "[c_api]") {
  const Potential potential = load("matgl");
  CHECK(biogpu_potential_version() == BIOGPU_POTENTIAL_VERSION);
  CHECK(biogpu_potential_cutoff(potential.get()) == 4);
  CHECK(biogpu_potential_needs_charge(potential.get()) == 0);
  CHECK(biogpu_potential_has_element(potential.get(), 14) == 1);
  CHECK(biogpu_potential_has_element(potential.get(), 92) == 0);
  CHECK(biogpu_potential_atomic_number("Si") == 14);
  CHECK(biogpu_potential_atomic_number("Sj") == 0);
  const auto energy = [&](const Crystal& crystal) {
    const biogpu_atoms atoms = crystal.atoms();
    double result = 0;
    REQUIRE(biogpu_potential_compute(potential.get(), &atoms, &result, nullptr, nullptr) == 0);
    return result;
  };
  const Crystal crystal;
  const biogpu_atoms atoms = crystal.atoms();
  double total = 0, forces[9] = {}, virial[9] = {};
  REQUIRE(biogpu_potential_compute(potential.get(), &atoms, &total, forces, virial) == 0);
  CHECK(total == energy(crystal));
  constexpr double kStep = 1e-4;
  for (std::size_t i = 0; i < 9; ++i) {
    Crystal up, down;
    up.positions[i] += kStep;
    down.positions[i] -= kStep;
    CHECK(forces[i] == Approx((energy(down) - energy(up)) / (2 * kStep)).margin(1e-5));
    const auto strained = [&](double e) {
      Crystal bent;
      for (double* rows : {bent.positions.data(), bent.box.data()})
        for (std::size_t row = 0; row < 9; row += 3) rows[row + i % 3] += e * rows[row + i / 3];
      return bent;
    };
    const double slope = (energy(strained(kStep)) - energy(strained(-kStep))) / (2 * kStep);
    CHECK(virial[i] == Approx(slope).margin(1e-5));
  }
}

TEST_CASE("c_api.potential: a list of neighbours", "[c_api]") {
  const Potential potential = load("o3");
  const std::vector<int32_t> numbers{8, 1, 1}, starts{0, 2, 4, 6}, others{1, 2, 0, 2, 0, 1};
  const std::vector<double> positions{0, 0, 0, 0.97, 0, 0, -0.2, 0.9, 0};
  const double charge = 0;
  biogpu_neighbours list{3.5, starts.data(), others.data(), nullptr};
  biogpu_atoms atoms{3, numbers.data(), positions.data(), nullptr, &charge, nullptr};
  double found = 0, listed = 0;
  REQUIRE(biogpu_potential_compute(potential.get(), &atoms, &found, nullptr, nullptr) == 0);
  atoms.neighbours = &list;
  REQUIRE(biogpu_potential_compute(potential.get(), &atoms, &listed, nullptr, nullptr) == 0);
  CHECK(found == listed);
  // Without the pair of the hydrogens, which are 1.5 Angstrom from each other.
  const std::vector<int32_t> few_starts{0, 2, 3, 4}, few{1, 2, 0, 0};
  list.starts = few_starts.data();
  list.neighbours = few.data();
  REQUIRE(biogpu_potential_compute(potential.get(), &atoms, &listed, nullptr, nullptr) == 0);
  CHECK(found != listed);
  const auto refused = [&](const char* what) {
    return biogpu_potential_compute(potential.get(), &atoms, &listed, nullptr, nullptr) == 2 &&
           says(what);
  };
  list.radius = 3;
  CHECK(refused("less than the cutoff"));
  list.radius = 4;
  const std::vector<int32_t> too_high{1, 3, 0, 0}, unsorted{2, 1, 0, 0}, falling{0, 2, 1, 4};
  list.neighbours = too_high.data();
  CHECK(refused("a neighbour that is no atom"));
  list.neighbours = unsorted.data();
  CHECK(refused("not sorted"));
  list.neighbours = few.data();
  list.starts = falling.data();
  CHECK(refused("do not rise"));
  list.starts = few_starts.data();
  list.shifts = starts.data();
  CHECK(refused("belong to a box"));
}

TEST_CASE("c_api.potential: failures return a code and one line", "[c_api]") {
  biogpu_potential* none = nullptr;
  CHECK(biogpu_potential_load("/no/such/folder", "cpu", "auto", 1, &none) != 0);
  CHECK(says("/no/such/folder"));
  CHECK(biogpu_potential_load(nullptr, "cpu", "auto", 1, &none) == 2);
  const std::string folder = BIOGPU_TEST_DATA "/models/tensornet/o3";
  CHECK(biogpu_potential_load(folder.c_str(), "tpu", "auto", 1, &none) == 2);
  CHECK(biogpu_potential_load(folder.c_str(), "cpu", "fp8", 1, &none) == 2);
  CHECK(biogpu_potential_load(BIOGPU_TEST_DATA "/models/enformer_tiny", "cpu", "auto", 1, &none) ==
        2);
  CHECK(says("it offers"));
  CHECK(none == nullptr);
  const Potential potential = load("o3", "auto");
  const int32_t numbers[] = {8, 1};
  double positions[] = {0, 0, 0, 0, 0, 1}, energy = 0;
  biogpu_atoms atoms{2, numbers, positions, nullptr, nullptr, nullptr};
  const auto code = [&] {
    return biogpu_potential_compute(potential.get(), &atoms, &energy, nullptr, nullptr);
  };
  CHECK(code() == 0);
  const double neutral = energy, charge = 1;
  atoms.charge = &charge;
  CHECK(code() == 0);
  CHECK(energy != neutral);
  const Potential with_charges = load("charges", "auto");
  CHECK(biogpu_potential_needs_charge(with_charges.get()) == 1);
  CHECK(biogpu_potential_needs_charge(potential.get()) == 0);
  atoms.charge = nullptr;
  CHECK(biogpu_potential_compute(with_charges.get(), &atoms, &energy, nullptr, nullptr) == 3);
  CHECK(says("charge"));
  atoms.charge = &charge;
  CHECK(biogpu_potential_compute(with_charges.get(), &atoms, &energy, nullptr, nullptr) == 0);
  const Potential coulomb = load("coulomb", "auto");
  CHECK(biogpu_potential_needs_partial_charges(coulomb.get()) == 1);
  CHECK(biogpu_potential_needs_partial_charges(potential.get()) == 0);
  CHECK(biogpu_potential_compute(coulomb.get(), &atoms, &energy, nullptr, nullptr) == 3);
  CHECK(says("needs partial charges"));
  const double partial[] = {-0.4, 0.4};
  positions[5] = 2;
  CHECK(biogpu_potential_compute_with_charges(coulomb.get(), &atoms, partial, &energy, nullptr,
                                              nullptr) == 0);
  const double none_charged[] = {0, 0};
  double without = 0;
  CHECK(biogpu_potential_compute_with_charges(coulomb.get(), &atoms, none_charged, &without,
                                              nullptr, nullptr) == 0);
  CHECK(energy < without);
  positions[5] = std::numeric_limits<double>::quiet_NaN();
  CHECK(code() == 3);
  positions[5] = 0;
  CHECK(code() == 3);
  CHECK(says("at one place"));
  atoms.n = 0;
  CHECK(code() == 2);
  atoms.n = int64_t{1} << 40;
  CHECK(code() == 2);
  CHECK(biogpu_potential_compute(potential.get(), nullptr, &energy, nullptr, nullptr) == 2);
  biogpu_potential_free(nullptr);
}

TEST_CASE("c_api.potential: a list of neighbours of many atoms, in any order", "[c_api]") {
  const Potential potential = load("o3", "fp32");
  // So many that they are computed along a space-filling curve (docs/design/atoms.md).
  constexpr std::size_t kSide = 18, kAtoms = kSide * kSide * kSide;
  constexpr double kSpacing = 2.7, kRadius = 3.6;
  std::vector<double> first(3 * kAtoms);
  for (std::size_t i = 0; i < kAtoms; ++i) {
    const std::array<std::size_t, 3> place{i % kSide, i / kSide % kSide, i / kSide / kSide};
    for (std::size_t k = 0; k < 3; ++k)
      first[3 * i + k] = kSpacing * static_cast<double>(place[k]) +
                         0.01 * static_cast<double>((7 * i + 11 * k) % 31);
  }
  std::vector<double> energies;
  std::vector<std::vector<double>> forces;
  // 5 has no divisor in common with the number of atoms: every atom comes once.
  for (const std::size_t step : {1, 5}) {
    std::vector<int32_t> numbers, starts{0}, others;
    std::vector<double> positions;
    for (std::size_t i = 0; i < kAtoms; ++i) {
      const std::size_t from = i * step % kAtoms;
      numbers.push_back(from % 3 == 0 ? 8 : 1);
      positions.insert(positions.end(), first.begin() + static_cast<std::ptrdiff_t>(3 * from),
                       first.begin() + static_cast<std::ptrdiff_t>(3 * from + 3));
    }
    for (std::size_t i = 0; i < kAtoms; ++i) {
      for (std::size_t j = 0; j < kAtoms; ++j) {
        double squares = 0;
        for (std::size_t k = 0; k < 3; ++k) {
          const double d = positions[3 * i + k] - positions[3 * j + k];
          squares += d * d;
        }
        if (i != j && squares < kRadius * kRadius) others.push_back(static_cast<int32_t>(j));
      }
      starts.push_back(static_cast<int32_t>(others.size()));
    }
    const biogpu_neighbours list{kRadius, starts.data(), others.data(), nullptr};
    for (const biogpu_neighbours* const given :
         {static_cast<const biogpu_neighbours*>(nullptr), &list}) {
      const double charge = 0;
      const biogpu_atoms atoms{kAtoms, numbers.data(), positions.data(), nullptr, &charge, given};
      double energy = 0;
      std::vector<double> some(3 * kAtoms);
      REQUIRE(biogpu_potential_compute(potential.get(), &atoms, &energy, some.data(), nullptr) ==
              0);
      std::vector<double> sorted(3 * kAtoms);
      for (std::size_t i = 0; i < 3 * kAtoms; ++i)
        sorted[3 * (i / 3 * step % kAtoms) + i % 3] = some[i];
      energies.push_back(energy);
      forces.push_back(sorted);
    }
  }
  for (std::size_t i = 1; i < energies.size(); ++i) {
    CHECK(energies[i] == energies[0]);
    CHECK(forces[i] == forces[0]);
  }
}

namespace {

// A host that traps floating-point exceptions, as programs of Fortran do.
class Trapping {
 public:
  Trapping() {
    std::feclearexcept(FE_ALL_EXCEPT);
    enabled_ = feenableexcept(kTraps);
  }
  ~Trapping() {
    fedisableexcept(kTraps);
    feenableexcept(enabled_);
  }
  static constexpr int kTraps = FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW;

 private:
  int enabled_ = 0;
};

}  // namespace

TEST_CASE("c_api.potential: NULL for each pointer is wrong use", "[c_api]") {
  const Potential potential = load("coulomb", "auto");
  const std::string folder = BIOGPU_TEST_DATA "/models/tensornet/o3";
  const char* const arguments[3] = {folder.c_str(), "cpu", "auto"};
  for (std::size_t which = 0; which < 4; ++which) {
    const char* words[3] = {arguments[0], arguments[1], arguments[2]};
    if (which < 3) words[which] = nullptr;
    biogpu_potential* loaded = potential.get();
    CHECK(biogpu_potential_load(words[0], words[1], words[2], 1, which < 3 ? &loaded : nullptr) ==
          2);
    CHECK(says("is NULL"));
    CHECK((which == 3 || loaded == nullptr));
    CHECK(biogpu_potential_load_with_references(words[0], words[1], words[2], 1, -1,
                                                which < 3 ? &loaded : nullptr) == 2);
  }
  const auto tells = [](double value) { return value == 0 && says("potential is NULL"); };
  CHECK(tells(biogpu_potential_cutoff(nullptr)));
  CHECK(tells(biogpu_potential_needs_charge(nullptr)));
  CHECK(tells(biogpu_potential_needs_partial_charges(nullptr)));
  CHECK(tells(biogpu_potential_has_element(nullptr, 8)));
  CHECK(biogpu_potential_atomic_number(nullptr) == 0);
  CHECK(says("symbol is NULL"));
  for (const int32_t number :
       {-1, 0, 119, std::numeric_limits<int32_t>::max(), std::numeric_limits<int32_t>::min()})
    CHECK(biogpu_potential_has_element(potential.get(), number) == 0);
  const std::string long_name(100000, 'X');
  for (const char* const symbol : {"", " ", "C ", "6", "Xx", long_name.c_str()})
    CHECK(biogpu_potential_atomic_number(symbol) == 0);

  const int32_t numbers[] = {8, 1}, starts[] = {0, 1, 2}, others[] = {1, 0}, none[] = {0, 0, 0};
  const double positions[] = {0, 0, 0, 0, 0, 2}, partial[] = {-0.4, 0.4}, charge = 0;
  const biogpu_neighbours list{9, starts, others, nullptr};
  const biogpu_atoms good{2, numbers, positions, nullptr, &charge, &list};
  double energy = 0;
  const auto code = [&](const biogpu_atoms& atoms) {
    return biogpu_potential_compute_with_charges(potential.get(), &atoms, partial, &energy, nullptr,
                                                 nullptr);
  };
  CHECK(code(good) == 0);
  CHECK(biogpu_potential_compute_with_charges(nullptr, &good, partial, &energy, nullptr, nullptr) ==
        2);
  CHECK(biogpu_potential_compute_with_charges(potential.get(), nullptr, partial, &energy, nullptr,
                                              nullptr) == 2);
  CHECK(biogpu_potential_compute_with_charges(potential.get(), &good, partial, nullptr, nullptr,
                                              nullptr) == 2);
  CHECK(biogpu_potential_compute(nullptr, &good, &energy, nullptr, nullptr) == 2);
  CHECK(biogpu_potential_compute(potential.get(), &good, &energy, nullptr, nullptr) == 3);
  CHECK(says("needs partial charges"));
  biogpu_atoms atoms = good;
  atoms.atomic_numbers = nullptr;
  CHECK(code(atoms) == 2);
  atoms = good;
  atoms.positions = nullptr;
  CHECK(code(atoms) == 2);
  biogpu_neighbours bad = list;
  atoms = good;
  atoms.neighbours = &bad;
  bad.starts = nullptr;
  CHECK(code(atoms) == 2);
  bad = list;
  bad.neighbours = nullptr;
  CHECK(code(atoms) == 2);
  bad = list;
  bad.shifts = none;
  CHECK(code(atoms) == 2);
}

TEST_CASE("c_api.potential: numbers out of range are wrong use or bad input", "[c_api]") {
  const std::string folder = BIOGPU_TEST_DATA "/models/tensornet/matgl";
  biogpu_potential* loaded = nullptr;
  for (const int n_threads :
       {-1, 1025, 70000, std::numeric_limits<int>::max(), std::numeric_limits<int>::min()}) {
    CHECK(biogpu_potential_load(folder.c_str(), "cpu", "auto", n_threads, &loaded) == 2);
    CHECK(says("n_threads"));
  }
  for (const int references : {-2, 2})
    CHECK(biogpu_potential_load_with_references(folder.c_str(), "cpu", "auto", 1, references,
                                                &loaded) == 2);
  for (const int n_threads : {0, 1, 37, 1024}) {
    REQUIRE(biogpu_potential_load(folder.c_str(), "cpu", "auto", n_threads, &loaded) == 0);
    const Potential potential(loaded);
    const Crystal crystal;
    double energy = 0;
    const biogpu_atoms good = crystal.atoms();
    CHECK(biogpu_potential_compute(potential.get(), &good, &energy, nullptr, nullptr) == 0);
  }
  const Potential potential = load("matgl", "auto");
  const double nan = std::nan(""), inf = HUGE_VAL;
  const auto code = [&](const Crystal& crystal, const double* charge = nullptr,
                        const double* partial = nullptr) {
    biogpu_atoms atoms = crystal.atoms();
    atoms.charge = charge;
    double energy = 0;
    return biogpu_potential_compute_with_charges(potential.get(), &atoms, partial, &energy, nullptr,
                                                 nullptr);
  };
  for (const int32_t number :
       {-1, 0, 92, 119, std::numeric_limits<int32_t>::max(), std::numeric_limits<int32_t>::min()}) {
    Crystal crystal;
    crystal.numbers[1] = number;
    CHECK(code(crystal) == 3);
  }
  for (const double x : {nan, inf, -inf}) {
    Crystal moved, bent;
    moved.positions[4] = x;
    bent.box[8] = x;
    CHECK(code(moved) == 3);
    CHECK(code(bent) == 3);
    CHECK(code({}, &x) == 3);
    const double partial[] = {0, 0, x};
    CHECK(code({}, nullptr, partial) == 3);
  }
  Crystal flat;
  flat.box[8] = 0;
  CHECK(code(flat) == 3);
  biogpu_atoms atoms = Crystal().atoms();
  double energy = 0;
  for (const int64_t n : {std::numeric_limits<int64_t>::min(), int64_t{-1}, int64_t{0},
                          int64_t{715827883}, std::numeric_limits<int64_t>::max()}) {
    atoms.n = n;
    CHECK(biogpu_potential_compute(potential.get(), &atoms, &energy, nullptr, nullptr) == 2);
  }
}

TEST_CASE("c_api.potential: messages have no options of the program", "[c_api]") {
  biogpu_potential* none = nullptr;
  const std::string folder = BIOGPU_TEST_DATA "/models/tensornet/o3";
  CHECK(biogpu_potential_load(folder.c_str(), "tpu", "auto", 1, &none) == 2);
  CHECK_FALSE(says("--"));
  CHECK(says("device"));
  CHECK(biogpu_potential_load("/no/such/folder", "cpu", "auto", 1, &none) != 0);
  CHECK_FALSE(says("--"));
  const Potential charges = load("charges", "auto");
  const int32_t numbers[] = {8, 1};
  const double positions[] = {0, 0, 0, 0, 0, 1};
  const biogpu_atoms atoms{2, numbers, positions, nullptr, nullptr, nullptr};
  double energy = 0;
  CHECK(biogpu_potential_compute(charges.get(), &atoms, &energy, nullptr, nullptr) == 3);
  CHECK_FALSE(says("--"));
}

TEST_CASE("c_api.potential: a host that traps floating-point exceptions", "[c_api]") {
  std::array<double, 2> energies{};
  for (const bool traps : {false, true})
    for (const char* const name : {"matgl", "zbl", "mish_mean"}) {
      const std::unique_ptr<Trapping> trapping = traps ? std::make_unique<Trapping>() : nullptr;
      const Potential potential = load(name, "auto");
      const std::vector<int32_t> numbers{8, 8, 1};
      const std::vector<double> positions{0, 0, 0, 1.3, 0.2, 0, 60, 0, 0};
      const biogpu_atoms atoms{3, numbers.data(), positions.data(), nullptr, nullptr, nullptr};
      double energy = 0, forces[9] = {};
      CHECK(biogpu_potential_compute(potential.get(), &atoms, &energy, forces, nullptr) == 0);
      energies[traps ? 1 : 0] += energy;
      // The caller's environment is as it was.
      CHECK(fegetexcept() == (traps ? Trapping::kTraps : 0));
      CHECK(std::fetestexcept(Trapping::kTraps) == 0);
    }
  CHECK(energies[0] == energies[1]);
  // Nor does its rounding change a result.
  const Potential potential = load("matgl", "auto");
  const Crystal crystal;
  const biogpu_atoms atoms = crystal.atoms();
  double nearest = 0, upward = 0;
  CHECK(biogpu_potential_compute(potential.get(), &atoms, &nearest, nullptr, nullptr) == 0);
  std::fesetround(FE_UPWARD);
  CHECK(biogpu_potential_compute(potential.get(), &atoms, &upward, nullptr, nullptr) == 0);
  CHECK(std::fegetround() == FE_UPWARD);
  std::fesetround(FE_TONEAREST);
  CHECK(nearest == upward);
}

TEST_CASE("c_api.potential: energies of free atoms", "[c_api]") {
  const std::string folder = BIOGPU_TEST_DATA "/models/tensornet/so3_old_rows";
  const auto energy = [&](int references) {
    biogpu_potential* loaded = nullptr;
    REQUIRE(biogpu_potential_load_with_references(folder.c_str(), "cpu", "fp64", 1, references,
                                                  &loaded) == 0);
    const Potential potential(loaded);
    const int32_t numbers[] = {8, 1};
    const double positions[] = {0, 0, 0, 0, 0, 1.4};
    const biogpu_atoms atoms{2, numbers, positions, nullptr, nullptr, nullptr};
    double result = 0;
    REQUIRE(biogpu_potential_compute(potential.get(), &atoms, &result, nullptr, nullptr) == 0);
    return result;
  };
  CHECK(energy(-1) == energy(1));
  CHECK(std::fabs(energy(1) - energy(0)) > 1e-3);
  biogpu_potential* none = nullptr;
  const std::string o3 = BIOGPU_TEST_DATA "/models/tensornet/o3";
  CHECK(biogpu_potential_load_with_references(o3.c_str(), "cpu", "fp64", 1, 1, &none) == 2);
  CHECK(says("no energies of free atoms"));
}
