#include "lib/models/esm2/ops/encoder_8m.hpp"

#include "tests/ops/op_bed.hpp"

using namespace biogpu;
using test::Bed;

// The kernel itself is tested with what a context records:
// tests/unit/gpu/ops/captured_gpu_test.cpp.
TEST_CASE("esm2.encode_8m: a context without such a kernel says so", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  bool ran = true;
  const auto linear = [](std::int64_t n_out, std::int64_t n_in) {
    tensor::Linear made;
    made.n_out = n_out;
    made.n_in = n_in;
    return made;
  };
  const tensor::Linear qkv = linear(72, 24), projection = linear(24, 24);
  const tensor::Linear up = linear(96, 24), down = linear(24, 96);
  models::esm2::Encode8m op;
  op.blocks.push_back({&qkv, &projection, &up, &down, {}, {}});
  op.table = bed.random({33, 24}, 1, false).device;  // no kernel has 24 numbers a token
  op.n_heads = 2;
  const test::Indices ids = bed.indices({0, 5, 2});
  op.ids = ids.device;
  tensor::Ragged segments;
  segments.n_rows = 3;
  segments.n_segments = 1;
  segments.max_length = 3;
  segments.starts = {0, 3};
  op.segments = &segments;
  op.x = bed.unset({3, 24}, false).device;
  op.h = bed.unset({3, 24}, true).device;
  op.ran = &ran;
  models::esm2::encode_8m(bed.device(), op);
  CHECK_FALSE(ran);
  ran = true;
  models::esm2::encode_8m(bed.reference(), op);
  CHECK_FALSE(ran);
}
