#include "lib/ops/gather/embed.hpp"

#include "tests/ops/norm_targets.hpp"

using namespace biogpu;
using test::Bed;
using test::Pair;

TEST_CASE("ops.embed: rows, scales, positions and their normalisation", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const std::int64_t d = test::width_of_norm(bed), t = 48;
  const bool scaled = GENERATE(false, true), placed = GENERATE(false, true);
  const Pair table = bed.random({33, d}, 1.0f, false), places = bed.random({64, d}, 1.0f, false);
  const Pair weight = bed.random({d}, 1.0f, false), bias = bed.random({d}, 1.0f, false);
  std::vector<float> scales;
  std::vector<std::int32_t> tokens;
  for (std::int32_t i = 0; i < t; ++i) {
    tokens.push_back(i * 7 % 33);
    scales.push_back(i % 5 == 0 ? 0.0f : 0.88f);
  }
  const Pair scale = bed.pair({t}, scales, false);
  const test::Indices ids = bed.indices(tokens);
  const test::RaggedPair segments = bed.segments({1, 40, 7});
  const Pair sum = bed.unset({t, d}, false), out = bed.unset({t, d}, false),
             operand = bed.unset({t, d}, true);
  const auto given = [](bool is_given, const tensor::Tensor& x) {
    return is_given ? x : tensor::Tensor();
  };
  ops::embed(bed.reference(), {table.host,
                               ids.host,
                               given(scaled, scale.host),
                               given(placed, places.host),
                               segments.host.positions,
                               {weight.host, bias.host, 1e-5f},
                               sum.host,
                               out.host,
                               operand.host});
  ops::embed(bed.device(), {table.device,
                            ids.device,
                            given(scaled, scale.device),
                            given(placed, places.device),
                            segments.device.positions,
                            {weight.device, bias.device, 1e-5f},
                            sum.device,
                            out.device,
                            operand.device});
  test::check_targets(bed, sum, out, operand);
}
