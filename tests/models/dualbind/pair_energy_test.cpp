#include "lib/models/dualbind/ops/pair_energy.hpp"

#include "tests/models/dualbind/complex_bed.hpp"

using namespace biogpu;
using test::Bed;
using test::Complexes;
using test::Indices;
using test::Pair;

TEST_CASE("dualbind.pair_energy: products of near pairs", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const Complexes all;
  for (const std::int64_t d : {1, 64, 300}) {
    const Pair b = bed.random({all.n_ligands, d}, 1, false);
    const Pair t = bed.random({all.n_tokens - all.n_ligands, d}, 1, false);
    Pair x = bed.random({all.n_tokens, 3}, 5, false);
    // Exactly the cutoff is not near: ligand atom 0 and the first atom of its pocket.
    const std::vector<float> origin{0, 0, 0}, apart{6, 8, 0};
    std::copy(origin.begin(), origin.end(), x.values.begin());
    std::copy(apart.begin(), apart.end(), x.values.begin() + 9);
    x = bed.pair({all.n_tokens, 3}, x.values, false);
    const Indices starts = bed.indices(all.starts), ligands = bed.indices(all.ligand_starts);
    for (const float cutoff : {0.0f, 6.0f, 10.0f, 1000.0f}) {
      std::vector<double> right(static_cast<std::size_t>(all.n_complexes), 7);
      models::dualbind::pair_energy(
          bed.reference(), {b.host, t.host, x.host, starts.host, ligands.host, cutoff,
                            tensor::Tensor(right.data(), tensor::DType::f64, {all.n_complexes})});
      const tensor::Tensor energy(bed.device().allocate(right.size() * sizeof(double)),
                                  tensor::DType::f64, {all.n_complexes});
      models::dualbind::pair_energy(bed.device(), {b.device, t.device, x.device, starts.device,
                                                   ligands.device, cutoff, energy});
      // As pairs of fp32 numbers: copy_out() knows no double.
      std::vector<double> got(right.size());
      tensor::Tensor bits = energy;
      bits.dtype = tensor::DType::i32;
      bits.shape[0] = 2 * all.n_complexes;
      bed.device().copy_out(reinterpret_cast<std::int32_t*>(got.data()), bits);
      bed.device().synchronize();
      for (std::size_t c = 0; c < right.size(); ++c) {
        const double size = std::sqrt(static_cast<double>(d) * 33 * 129);
        CHECK(std::fabs(got[c] - right[c]) < 2e-6 * size);
      }
      CHECK(right[1] == 0);
      CHECK(right[2] == 0);
      if (cutoff == 0) CHECK(right[4] == 0);
    }
  }
}
