// How fp32 is rounded to the 16-bit types at the ends of their range.
#include <cmath>
#include <limits>
#include <vector>

#include "gpu/ops/normalisation/layer_norm.hpp"
#include "tests/unit/gpu/ops/warpgroup_support.hpp"

using namespace biogpu;
using gpu::Number16;
using test::to_device;
using test::to_host;

TEST_CASE("ops.number16: numbers out of range become the largest, and NaN stays", "[ops][device]") {
  if (!test::has_gpu()) return;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::vector<float> values{
      65504, 65519,     65520,      1e5f,
      -1e5f, kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN()};
  for (const Number16 type : {Number16::fp16, Number16::bf16}) {
    gpu::Stream stream;
    auto x = to_device(values, stream);
    auto sum = to_device(std::vector<std::uint16_t>(values.size(), 0), stream);
    gpu::ops::LayerNormArgs args;  // without weights it rounds
    args.n_rows = 1;
    args.d = static_cast<int>(values.size());
    args.x = {x.data(), args.d, gpu::ops::Element::f32};
    args.sum = {sum.data(), args.d, test::element_of(type)};
    gpu::ops::launch_layer_norm(args, stream);
    const auto got = to_host(sum, stream);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const float value = test::value_of(got[i], type);
      CAPTURE(values[i], value, type == Number16::fp16);
      if (std::isnan(values[i])) {
        CHECK(std::isnan(value));
      } else if (type == Number16::fp16) {
        CHECK(value == std::copysign(65504.0f, values[i]));
      } else {
        CHECK(value == test::value_of(test::bits_of(values[i], type), type));
      }
    }
  }
}
