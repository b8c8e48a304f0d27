#include "lib/tensor/context.hpp"
#include "tests/models/molscribe/model_support.hpp"

using namespace biogpu;

// Pictures with few tokens, since an emulated device is slow.
TEST_CASE("models.molscribe: the same graphs on a GPU, alone and together") {
  const auto context = tensor::make_gpu_context(0, {tensor::Precision::fp32});
  const auto model = test::load_molscribe(*context);
  nlohmann::json expected = test::expected_graphs();
  for (const char* longer : {"picture1.png", "picture2.png", "picture4.png", "picture5.png"})
    expected.erase(longer);
  const test::Pictures pictures = test::read_pictures(*model, expected);
  const auto together = test::check_graphs(*model, pictures, expected, 2e-3);
  test::check_same(model->recognize(std::span(pictures.images).last(1))[0], together.back());
}
