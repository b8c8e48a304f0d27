// How files are cut into units of `biogpu align`: what progress shows, and which reads go on.
#include "apps/biogpu/align/input/units.hpp"

#include <cmath>
#include <string>
#include <vector>

#include "lib/core/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/io/files.hpp"

using namespace biogpu;
using namespace biogpu::test;
using app::Pairing;
using app::UnitReader;
using app::WorkUnit;

namespace {

// N records; sizes in turn.
std::string records(int n, const std::vector<int>& sizes) {
  std::string text;
  for (int i = 0; i < n; ++i)
    text += ">s" + std::to_string(i) + "\n" +
            std::string(static_cast<std::size_t>(sizes[static_cast<std::size_t>(i) % sizes.size()]),
                        'A') +
            "\n";
  return text;
}

UnitReader::Source source(const TempFolder& folder, Pairing pairing, bool one_set) {
  UnitReader::Source source;
  source.query_path = folder.path("q.fa");
  if (!one_set) source.target_path = folder.path("t.fa");
  source.pairing = pairing;
  return source;
}

double cells_of(const WorkUnit& unit, Pairing pairing) {
  double cells = 0;
  const auto query = [&](std::size_t i) {
    return static_cast<double>(unit.queries.sequence(i).size());
  };
  if (pairing == Pairing::search) {
    for (std::size_t i = 0; i < unit.queries.size(); ++i)
      unit.targets.for_sequences(
          [&](std::string_view target) { cells += query(i) * static_cast<double>(target.size()); });
    return cells;
  }
  for (const align::Pair& pair : unit.pairs)
    cells +=
        query(pair.query) * (pairing == Pairing::by_order
                                 ? 1
                                 : static_cast<double>(unit.targets.sequence(pair.target).size()));
  return cells;
}

}  // namespace

TEST_CASE("align.units: the share done is that of the cells, not of the file read", "[align]") {
  const TempFolder folder;
  const Pairing pairing = GENERATE(Pairing::all, Pairing::self, Pairing::search, Pairing::by_order);
  folder.file("q.fa", records(30, {5, 90, 17}));
  folder.file("t.fa", records(30, {40, 3}));
  const bool one_set = pairing == Pairing::self;
  const auto cut = [&](std::vector<double>& done) {
    UnitReader reader(source(folder, pairing, one_set));
    reader.set_limits({4, UINT64_MAX});
    double cells = 0;
    WorkUnit unit;
    std::vector<double> fractions;
    while (reader.next(unit)) {
      cells += cells_of(unit, pairing);
      done.push_back(cells);
      fractions.push_back(unit.fraction_done);
    }
    return fractions;
  };
  std::vector<double> done;
  const std::vector<double> fractions = cut(done);
  REQUIRE(fractions.size() > 5);
  for (std::size_t i = 0; i < fractions.size(); ++i)
    CHECK(std::abs(fractions[i] - done[i] / done.back()) < 1e-9);
}

TEST_CASE("align.units: a unit says which reads have pairs in its neighbours", "[align]") {
  const TempFolder folder;
  folder.file("q.fa", records(3, {5}));
  folder.file("t.fa", records(4, {7}));
  const std::size_t limit = GENERATE(1, 2, 3, 4, 5, 8, 100);
  UnitReader reader(source(folder, Pairing::all, false));
  reader.set_limits({limit, UINT64_MAX});
  WorkUnit unit;
  for (std::size_t first = 0; reader.next(unit) && !unit.pairs.empty();
       first += unit.pairs.size()) {
    CHECK(unit.continues_before == (first % 4 != 0));
    CHECK(unit.continues_after == ((first + unit.pairs.size()) % 4 != 0));
  }
}

TEST_CASE("align.units: names and places of held targets are bounded", "[align]") {
  const TempFolder folder;
  folder.file("q.fa", records(1, {5}));
  folder.file("t.fa", records(5000, {0}));
  UnitReader::Source bounded = source(folder, Pairing::all, false);
  bounded.max_target_bytes = 100000;
  CHECK_THROWS_AS(UnitReader(bounded), Error);
  bounded.max_target_bytes = 1000000;
  CHECK(UnitReader(bounded).held_targets()->size() == 5000);
  app::TargetList list("t.fa", 100);
  CHECK_THROWS_AS(list.add(*UnitReader(bounded).held_targets()), Error);
}
