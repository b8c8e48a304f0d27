#include "lib/tensor/context.hpp"
#include "tests/models/diffusion_transformer/model_support.hpp"
#include "tests/unit/gpu/gpu_support.hpp"

using namespace biogpu;
using tensor::Precision;

namespace {

void check(const std::string& name, const std::string& mask, Precision precision, double rounding,
           int n_passes) {
  CAPTURE(name, mask);
  test::LoadedDiffusion loaded(tensor::make_gpu_context(0, {precision}), name);
  const models::TrunkInput input = loaded.input(mask);
  models::Outputs outputs;
  for (int pass = 0; pass < n_passes; ++pass) outputs = loaded.model().run(input);
  const auto apart = test::difference(outputs.at("a").values, loaded.numbers(mask + "/out/a"));
  CAPTURE(apart.largest, apart.angle);
  // Twenty roundings across, as for the Pairformer.
  CHECK(apart.angle < 200 * rounding * rounding);
  if (precision == Precision::fp32) CHECK(apart.largest < 5e-5);
}

}  // namespace

TEST_CASE("diffusion_transformer: a GPU equals double precision within roundings",
          "[model][device]") {
  if (!test::has_gpu()) return;
  check("tiny", "full", Precision::fp32, 0x1p-21, 3);  // computed, recorded, repeated
  check("tiny", "padded", Precision::bf16, 0x1p-9, 1);
  check("boltz", "padded", Precision::fp32, 0x1p-21, 1);
}
