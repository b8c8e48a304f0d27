#include "lib/models/dualbind/ops/frame_mean.hpp"

#include "tests/models/dualbind/complex_bed.hpp"

using namespace biogpu;
using test::Bed;
using test::Complexes;
using test::Indices;
using test::Pair;

TEST_CASE("dualbind.frame_mean: means of normalised frames, ligands first", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const Complexes all;
  for (const std::int64_t d : {3, 64, 257}) {
    const Pair x = bed.random({8 * all.n_tokens, d}, 2, true);
    const Pair weight = bed.random({d}, 1, false), bias = bed.random({d}, 1, false);
    const Pair out = bed.unset({all.n_tokens, d}, true);
    const Indices of = bed.indices(all.complexes), starts = bed.indices(all.starts),
                  ligands = bed.indices(all.ligand_starts);
    const tensor::Norm host{weight.host, bias.host, 1e-5f};
    const tensor::Norm device{weight.device, bias.device, 1e-5f};
    models::dualbind::frame_mean(bed.reference(),
                                 {x.host, host, of.host, starts.host, ligands.host, out.host});
    models::dualbind::frame_mean(
        bed.device(), {x.device, device, of.device, starts.device, ligands.device, out.device});
    CHECK(bed.difference(out) < bed.operand_bound());
  }
}
