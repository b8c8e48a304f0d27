#include <string>
#include <vector>

#include "gpu/ops/gemm/gemm_warpgroup.hpp"
#include "tests/unit/gpu/ops/warpgroup_support.hpp"

using namespace biogpu;
using gpu::Number16;
using test::to_device;
using test::to_host;

namespace {

struct Extent {
  int m, n, k;
};

// Bits of a b^T with tiles of so many columns. warpgroups: by Hopper's kernel.
std::vector<std::uint16_t> product(const Extent& e, Number16 type, int columns, bool warpgroups,
                                   bool in_parts, gpu::Stream& stream) {
  const auto size = [](int rows, int width) {
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(width);
  };
  const auto a = to_device(test::random_bits(size(e.m, e.k), 1, type, 1), stream);
  const auto b = to_device(test::random_bits(size(e.n, e.k), 1, type, 2), stream);
  const auto bias = to_device(test::random_values(static_cast<std::size_t>(e.n), 1, 3), stream);
  auto out = to_device(std::vector<std::uint16_t>(size(e.m, e.n), 0xffff), stream);
  gpu::ops::GemmArgs args;
  args.a = a.data();
  args.b = b.data();
  args.lda = args.ldb = args.k = e.k;
  args.m = e.m;
  args.n = e.n;
  args.in_parts = in_parts;
  args.epilogue.bias = bias.data();
  args.epilogue.activation = ops::Activation::gelu_erf;
  args.out = {out.data(), e.n, test::element_of(type)};
  const std::string name = in_parts ? "fp32" : type == Number16::fp16 ? "fp16" : "bf16";
  tensor::TileTable tiles;
  tiles.choose({warpgroups ? "gemm warpgroup" : "gemm", name, {e.m, e.n, e.k, 1}}, columns);
  if (warpgroups) {
    REQUIRE(gpu::ops::launch_gemm_warpgroup(args, type, tiles, stream));
  } else {
    gpu::ops::launch_gemm(args, type, tiles, stream);
  }
  return to_host(out, stream);
}

}  // namespace

TEST_CASE("ops.tiles: a product has the same bytes with tiles of either width", "[ops][device]") {
  if (!test::has_gpu()) return;
  gpu::Stream stream;
  const Extent small = {70, 168, 136};
  const Extent large = test::is_emulated() ? Extent{300, 520, 136} : Extent{2100, 1160, 328};
  for (const Number16 type : {Number16::fp16, Number16::bf16}) {
    CAPTURE(type == Number16::fp16);
    for (const bool in_parts : {false, true})
      CHECK(product(small, type, 64, false, in_parts, stream) ==
            product(small, type, 128, false, in_parts, stream));
    if (gpu::has_warpgroups())
      CHECK(product(large, type, 160, true, false, stream) ==
            product(large, type, 192, true, false, stream));
  }
}
