#include "lib/models/dualbind/ops/bond_messages.hpp"

#include <cmath>
#include <limits>

#include "tests/ops/op_bed.hpp"

using namespace biogpu;
using models::dualbind::BondMessages;
using test::Bed;
using test::Indices;
using test::Pair;

// A chain of atoms with a branch; atom 4 has no bonds.
TEST_CASE("dualbind.bond_messages: sums over bonds without the one back", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  for (const std::int64_t d : {1, 7, 32, 65}) {
    // Bonds 0-1, 1-2, 1-3 in both directions: b and b ^ 1.
    const std::vector<std::int32_t> from{0, 1, 1, 2, 1, 3}, to{1, 0, 2, 1, 3, 1};
    std::vector<std::int32_t> starts{0}, order;
    for (std::int32_t atom = 0; atom < 5; ++atom) {
      for (std::int32_t b = 0; b < 6; ++b)
        if (to[static_cast<std::size_t>(b)] == atom) order.push_back(b);
      starts.push_back(static_cast<std::int32_t>(order.size()));
    }
    const Pair m = bed.random({6, d}, 1, false);
    const Indices first = bed.indices(starts), bonds = bed.indices(order),
                  sources = bed.indices(from), back = bed.indices({1, 0, 3, 2, 5, 4});
    const Pair messages = bed.unset({6, d}, true), wide = bed.unset({5, d + 3}, true);
    models::dualbind::bond_messages(
        bed.reference(), {m.host, first.host, bonds.host, sources.host, back.host, messages.host});
    models::dualbind::bond_messages(bed.device(), {m.device, first.device, bonds.device,
                                                   sources.device, back.device, messages.device});
    CHECK(bed.difference(messages) < bed.operand_bound());
    const auto atoms_of = [&](const tensor::Tensor& rows) { return rows.slice(1, 3, d + 3); };
    models::dualbind::bond_messages(bed.reference(),
                                    {m.host, first.host, bonds.host, {}, {}, atoms_of(wide.host)});
    models::dualbind::bond_messages(
        bed.device(), {m.device, first.device, bonds.device, {}, {}, atoms_of(wide.device)});
    CHECK(bed.difference(wide) < bed.operand_bound());
    CHECK(wide.values[static_cast<std::size_t>(4 * (d + 3) + 3)] == 0);  // without bonds
    CHECK(wide.values[0] == 7);
  }
}

// Both as a message and as the one that is taken off again.
TEST_CASE("dualbind.bond_messages: NaN stays", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  // Bonds 0-1 and 1-2 in both directions; column 1 of bond 0, into atom 1, is NaN.
  const Pair m = bed.pair({4, 2}, {-3, nan, 2, -1, 5, -0.5f, 1, 4}, false);
  const Indices starts = bed.indices({0, 1, 3, 4}), order = bed.indices({1, 0, 3, 2}),
                sources = bed.indices({0, 1, 1, 2}), back = bed.indices({1, 0, 3, 2});
  const Pair messages = bed.unset({4, 2}, false), sums = bed.unset({3, 2}, false);
  const auto run = [&](tensor::Context& context, auto of, auto indices) {
    models::dualbind::bond_messages(context, {of(m), indices(starts), indices(order),
                                              indices(sources), indices(back), of(messages)});
    models::dualbind::bond_messages(context,
                                    {of(m), indices(starts), indices(order), {}, {}, of(sums)});
  };
  const auto host = [](const auto& x) { return x.host; };
  const auto device = [](const auto& x) { return x.device; };
  run(bed.reference(), host, host);
  run(bed.device(), device, device);
  const std::vector<float> of_bonds = bed.fetch(messages.device), of_atoms = bed.fetch(sums.device);
  for (const std::vector<float>& got : {of_bonds, messages.values})
    for (std::size_t i = 0; i < got.size(); ++i) {
      CAPTURE(i);
      CHECK(std::isnan(got[i]) == (i == 3 || i == 5));
    }
  for (const std::vector<float>& got : {of_atoms, sums.values})
    for (std::size_t i = 0; i < got.size(); ++i) CHECK(std::isnan(got[i]) == (i == 3));
  CHECK((of_atoms[0] == 2 && of_atoms[2] == 1 && of_atoms[4] == 5));
}

TEST_CASE("dualbind.bond_messages: no rows", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const Pair m = bed.random({1, 4}, 1, false), out = bed.unset({1, 4}, false);
  const Indices starts = bed.indices({0}), none = bed.indices({0});
  models::dualbind::bond_messages(
      bed.device(), {m.device, starts.device, none.device, {}, {}, out.device.slice(0, 0, 0)});
  CHECK(bed.difference(out) == 0);
}
