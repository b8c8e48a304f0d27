#include "lib/tensor/context.hpp"
#include "tests/models/pairformer/model_support.hpp"
#include "tests/unit/gpu/gpu_support.hpp"

using namespace biogpu;
using tensor::Precision;
using test::difference;

namespace {

void check(const std::string& folder, const std::string& mask, Precision precision, double rounding,
           int n_passes) {
  CAPTURE(folder, mask);
  test::LoadedPairformer loaded(tensor::make_gpu_context(0, {precision}),
                                test::pairformer_data(folder));
  const models::TrunkInput input = loaded.input(mask);
  models::Outputs outputs;
  for (int pass = 0; pass < n_passes; ++pass) outputs = loaded.model().run(input);
  for (const auto& output : outputs.arrays()) {
    CAPTURE(output.name);
    const auto apart = difference(output.values, loaded.numbers(mask + "/out/" + output.name));
    CAPTURE(apart.largest, apart.angle);
    // With an error of twenty roundings u across, of weights and of what fourteen parts add, 1 -
    // cosine is (20 u)^2 / 2.
    CHECK(apart.angle < 200 * rounding * rounding);
    if (precision == Precision::fp32) CHECK(apart.largest < 5e-5);
  }
}

}  // namespace

TEST_CASE("pairformer: a GPU equals double precision within roundings", "[model][device]") {
  if (!test::has_gpu()) return;
  check("pairs", "pairs", Precision::fp32, 0x1p-21, 3);  // computed, recorded, repeated
  check("tiny", "padded", Precision::bf16, 0x1p-9, 1);
  check("msa", "padded", Precision::fp32, 0x1p-21, 1);
  check("boltz", "padded", Precision::fp32, 0x1p-21, 1);
  check("boltz", "full", Precision::fp32, 0x1p-21, 1);
  check("openfold3", "padded", Precision::fp32, 0x1p-21, 1);
  check("evoformer", "padded", Precision::fp32, 0x1p-21, 1);
  check("evoformer", "pairs", Precision::bf16, 0x1p-9, 1);
}
