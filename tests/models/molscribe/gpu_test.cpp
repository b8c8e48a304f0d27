#include "lib/tensor/context.hpp"
#include "tests/models/molscribe/model_support.hpp"

using namespace biogpu;

TEST_CASE("models.molscribe: the same graphs on a GPU, alone and together") {
  const auto context = tensor::make_gpu_context(0, {tensor::Precision::fp32});
  const auto model = test::load_molscribe(*context);
  const nlohmann::json expected = test::expected_graphs();
  test::Pictures pictures = test::read_pictures(*model, expected);
  test::check_encoded(*model, pictures, expected, 2e-4);
  test::check_graphs(*model, pictures, expected, 2e-3);
  const auto together = model->recognize(pictures.images);
  test::check_same(model->recognize(std::span(pictures.images).first(1))[0], together[0]);
}
