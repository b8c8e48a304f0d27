#include "apps/biogpu/infer/molecules/relax_texts.hpp"

#include <string>
#include <string_view>
#include <vector>

#include "apps/biogpu/infer/molecules/two_texts.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/tasks/molecule/systems.hpp"

using namespace biogpu;
using app::RelaxTexts;

namespace {

struct Relaxed {
  std::vector<int> steps;  // of the frames
  std::string table;
  std::vector<std::string> warnings;
};

// Molecules of two atoms on springs, in steps so short that they do not arrive.
Relaxed relaxed(std::size_t n_molecules, int n_steps, RelaxTexts::Options options) {
  test::Springs model({1, 1, 1});
  tasks::MoleculeBatch batch;
  for (std::size_t i = 0; i < n_molecules; ++i) {
    molecule::Molecule& molecule = batch.molecules.emplace_back();
    molecule.atomic_numbers = {6, 8};
    molecule.positions = {1, 0, 0, 3, 0, 0};
    batch.places.push_back("m.xyz: frame " + std::to_string(i + 1));
    batch.numbers.push_back(i);
  }
  std::vector<models::AtomSystem> systems = tasks::make_systems(model, batch);
  options.ev_per_energy = model.info().ev_per_energy;
  options.energy.forces = true;
  RelaxTexts texts(options, batch);
  Relaxed result;
  tasks::relax(model, systems, batch.places, {.max_steps = n_steps, .step_limit = 0.01},
               [&](const tasks::RelaxPoint& point) { texts.add(point, result.warnings); });
  const std::string joined = texts.joined();
  const auto [frames, lines] = app::split_texts(joined);
  const std::string_view key = " step=";
  for (auto at = frames.find(key); at != frames.npos; at = frames.find(key, at + 1))
    result.steps.push_back(std::stoi(std::string(frames.substr(at + key.size(), 8))));
  result.table = lines;
  return result;
}

}  // namespace

TEST_CASE("relax_texts: all frames up to the limit of atoms, then the last", "[tasks]") {
  // Ten steps are eleven frames; the last one is kept in any case.
  const Relaxed whole = relaxed(1, 10, {.max_kept_atoms = 20});
  CHECK(whole.steps == std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  REQUIRE(whole.warnings.size() == 1);
  CHECK_THAT(whole.warnings[0], ContainsSubstring("m.xyz: frame 1: not converged in 10 steps"));

  for (const std::size_t limit : {18u, 19u}) {
    const Relaxed less = relaxed(1, 10, {.max_kept_atoms = limit});
    CHECK(less.steps == std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 10});
    REQUIRE(less.warnings.size() == 2);
    CHECK_THAT(less.warnings[0],
               ContainsSubstring("m.xyz: frame 1: frames from step 9 on are not kept"));
    CHECK_THAT(less.warnings[0], ContainsSubstring("those before have 18 atoms"));
    CHECK(less.table == whole.table);
  }
  // Told once, however many steps follow.
  const Relaxed little = relaxed(1, 40, {.max_kept_atoms = 5});
  CHECK(little.steps == std::vector<int>{0, 1, 40});
  CHECK(little.warnings.size() == 2);
  CHECK(relaxed(1, 40, {.max_kept_atoms = 0}).steps == std::vector<int>{40});
}

TEST_CASE("relax_texts: the last frames alone", "[tasks]") {
  const Relaxed last = relaxed(3, 4, {.keep_all = false, .max_kept_atoms = 0});
  CHECK(last.steps == std::vector<int>{4, 4, 4});
  CHECK(last.warnings.size() == 3);  // none of them converged
  const Relaxed all = relaxed(3, 4, {});
  CHECK(all.steps == std::vector<int>{0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1, 2, 3, 4});
  CHECK(all.table == last.table);
}
