#include "lib/models/dualbind/ops/frame_tokens.hpp"

#include "tests/models/dualbind/complex_bed.hpp"

using namespace biogpu;
using models::dualbind::FrameTokens;
using test::Bed;
using test::Complexes;
using test::Indices;
using test::Pair;

TEST_CASE("dualbind.frame_tokens: features and coordinates in eight frames", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const Complexes all;
  for (const std::int64_t d : {5, 64}) {
    constexpr std::int64_t kKinds = 9;
    const Pair ligand = bed.random({all.n_ligands, d}, 1, false);
    const Pair pocket = bed.random({kKinds, d}, 1, false);
    const Pair x = bed.random({all.n_tokens, 3}, 5, false);
    const Pair centre = bed.random({all.n_complexes, 3}, 1, false);
    const Pair axes = bed.random({all.n_complexes, 3, 3}, 1, false);
    const Pair weight = bed.random({3, d}, 0.3f, false);
    const Pair out = bed.unset({8 * all.n_tokens, d}, true);
    std::vector<std::int32_t> sources;
    for (std::int32_t t = 0; t < all.n_tokens; ++t)
      sources.push_back(t * 7 % static_cast<std::int32_t>(all.n_ligands + kKinds));
    const Indices from = bed.indices(sources), of = bed.indices(all.complexes),
                  starts = bed.indices(all.starts);
    models::dualbind::frame_tokens(
        bed.reference(), {ligand.host, pocket.host, from.host, x.host, of.host, starts.host,
                          centre.host, axes.host, weight.host, out.host});
    models::dualbind::frame_tokens(
        bed.device(), {ligand.device, pocket.device, from.device, x.device, of.device,
                       starts.device, centre.device, axes.device, weight.device, out.device});
    CHECK(bed.difference(out) < bed.operand_bound());
    // Frames 0 and 7 have opposite coordinates: their mean is the features.
    for (std::int64_t k = 0; k < d; ++k) {
      const auto at = [&](std::int64_t row) {
        return out.values[static_cast<std::size_t>(row * d + k)];
      };
      const float features = ligand.values[static_cast<std::size_t>(7 * d + k)];  // of token 1
      CHECK(std::fabs((at(1) + at(7 * 43 + 1)) / 2 - features) < 1e-5);
      CHECK(std::fabs((at(43 + 1) + at(6 * 43 + 1)) / 2 - features) < 1e-5);
    }
  }
}
