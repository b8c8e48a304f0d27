// The blocks of the C library on a GPU. The library's sources are part of this program, which
// shares its device memory and streams with them.
#include <cstdlib>
#include <string>

#include "gpu/rt/stream.hpp"
#include "lib/tensor/float16.hpp"
#include "tests/c_api/kind_support.hpp"
#include "tests/unit/gpu/gpu_support.hpp"

using namespace biogpu;
using test::array_of;
using test::Doubles;
using test::Numbers;

namespace {

constexpr std::int64_t kTokens = 5, kWidth = 16, kProduct = 8, kHeads = 2, kHead = 8;

float as_bf16(float x) { return tensor::from_bf16(tensor::to_bf16(x)); }

std::vector<std::uint16_t> bits_of(const Numbers& values) {
  std::vector<std::uint16_t> bits;
  for (const float value : values) bits.push_back(tensor::to_bf16(value));
  return bits;
}

}  // namespace

TEST_CASE("c_api.block: blocks on a GPU equal double precision", "[c_api][device]") {
  if (!test::has_gpu()) return;
  gpu::set_device(0);
  gpu::Stream stream;  // the calling program's
  const char* const wave = std::getenv("BIOGPU_EMULATED_WAVE");
  bool in_bf16 = wave != nullptr && std::string(wave) == "64";
  const auto fp32 = test::open_blocks("gpu", "fp32"), bf16 = test::open_blocks("gpu", "bf16");
  CHECK(biogpu_block_device(fp32.get()) == std::string("0"));
  for (const char* const kind : {"triangle-product-out", "triangle-product-in",
                                 "triangle-attention-start", "triangle-attention-end"}) {
    in_bf16 = !in_bf16;
    const bool is_attention = std::string(kind).find("attention") != std::string::npos;
    const bool is_second =
        std::string(kind) == "triangle-product-in" || std::string(kind) == "triangle-attention-end";
    CAPTURE(kind, in_bf16);
    const std::function<float(float)> rounded = [&](float x) { return in_bf16 ? as_bf16(x) : x; };
    const test::BlockWeights weights =
        is_attention ? test::attention_weights(7, kWidth, kHeads, kHead, true, rounded)
                     : test::product_weights(8, kWidth, kProduct, true, rounded);
    Numbers pairs = test::RandomNumbers(9).take(kTokens * kTokens * kWidth, 2);
    for (float& value : pairs) value = rounded(value);
    const Numbers mask = test::padded_mask(kTokens, 4);
    const auto block = test::make_block(in_bf16 ? bf16 : fp32, kind, weights);

    // Copies wait in the stream: the block runs behind them, and the copy back behind the block.
    gpu::DeviceBuffer<float> device_mask(mask.size()), device_out(pairs.size());
    gpu::DeviceBuffer<float> device_pairs(pairs.size());
    gpu::DeviceBuffer<std::uint16_t> device_bits(pairs.size());
    const std::vector<std::uint16_t> bits = bits_of(pairs);
    if (in_bf16)
      stream.copy_to_device(device_bits.data(), bits.data(), device_bits.bytes());
    else
      stream.copy_to_device(device_pairs.data(), pairs.data(), device_pairs.bytes());
    stream.copy_to_device(device_mask.data(), mask.data(), device_mask.bytes());
    test::BlockCall call;
    call.input("pairs") =
        in_bf16 ? array_of(device_bits.data(), {kTokens, kTokens, kWidth}, BIOGPU_BLOCK_BF16)
                : array_of(device_pairs.data(), {kTokens, kTokens, kWidth});
    call.input("mask") = array_of(device_mask.data(), {kTokens, kTokens});
    call.out = array_of(device_out.data(), {kTokens, kTokens, kWidth});
    call.stream = stream.handle();
    const int code = call.run(block);
    INFO(biogpu_block_error());
    REQUIRE(code == 0);
    Numbers out(pairs.size());
    stream.copy_to_host(out.data(), device_out.data(), device_out.bytes());
    stream.synchronize();

    const Doubles right = is_attention
                              ? test::expected_attention(weights, pairs.data(), mask.data(),
                                                         kTokens, kWidth, kHeads, is_second)
                              : test::expected_product(weights, pairs.data(), mask.data(), kTokens,
                                                       kWidth, !is_second);
    const auto [largest, angle] = test::differences(out, right);
    CHECK(largest < (in_bf16 ? 0.1 : 5e-5));
    CHECK(angle < (in_bf16 ? 2e-4 : 1e-9));
  }
}

TEST_CASE("c_api.block_kinds: blocks on a GPU equal double precision", "[c_api][device]") {
  if (!test::has_gpu()) return;
  gpu::set_device(0);
  gpu::Stream stream;
  const char* const wave = std::getenv("BIOGPU_EMULATED_WAVE");
  bool in_bf16 = wave != nullptr && std::string(wave) == "64";
  const auto fp32 = test::open_blocks("gpu", "fp32"), bf16 = test::open_blocks("gpu", "bf16");
  for (const char* const kind : test::kOtherKinds) {
    in_bf16 = !in_bf16;
    CAPTURE(kind, in_bf16);
    test::KindCase one(
        kind, 7, [&](float x) { return in_bf16 ? as_bf16(x) : x; }, in_bf16);
    one.set_mask(5);
    const auto block = test::make_block(in_bf16 ? bf16 : fp32, kind, one.weights);
    std::vector<gpu::DeviceBuffer<float>> floats;
    std::vector<gpu::DeviceBuffer<std::uint16_t>> halves;
    test::BlockCall call;
    for (const test::KindInput& input : one.inputs)
      if (in_bf16 && input.name != "mask") {
        halves.push_back(test::to_device(bits_of(input.values), stream));
        call.input(input.name.c_str()) =
            array_of(halves.back().data(), input.shape, BIOGPU_BLOCK_BF16);
      } else {
        floats.push_back(test::to_device(input.values, stream));
        call.input(input.name.c_str()) = array_of(floats.back().data(), input.shape);
      }
    const test::KindInput& updated = one.inputs[one.updated];
    gpu::DeviceBuffer<float> device_out(updated.values.size());
    call.out = array_of(device_out.data(), updated.shape);
    call.stream = stream.handle();
    Doubles right = one.update();
    for (const bool adds : {false, true}) {
      CAPTURE(adds);
      call.add = adds ? 1 : 0;
      const int code = call.run(block);
      INFO(biogpu_block_error());
      REQUIRE(code == 0);
      const Numbers out = test::to_host(device_out, stream);
      if (adds)
        for (std::size_t i = 0; i < right.size(); ++i) right[i] += updated.values[i];
      const auto [largest, angle] = test::differences(out, right);
      CHECK(largest < (in_bf16 ? 0.1 : 5e-5));
      CHECK(angle < (in_bf16 ? 2e-4 : 1e-9));
    }
  }
}

TEST_CASE("c_api.block: attention alone on a GPU equals double precision", "[c_api][device]") {
  if (!test::has_gpu()) return;
  constexpr std::size_t kLines = 2, kQueries = 5, kKeys = 7, kSize = 8;
  gpu::set_device(0);
  gpu::Stream stream;
  test::RandomNumbers random(5);
  const Numbers q = random.take(kLines * kQueries * kSize, 2),
                k = random.take(kLines * kKeys * kSize, 2),
                v = random.take(kLines * kKeys * kSize, 2), bias = random.take(kQueries * kKeys, 2);
  std::vector<std::uint8_t> mask(kLines * kKeys);
  for (std::size_t key = 0; key < 3; ++key) mask[kKeys + key] = 1;  // line 0 has no key
  const auto context = test::open_blocks("gpu", "fp32");
  const auto device_q = test::to_device(q, stream), device_k = test::to_device(k, stream),
             device_v = test::to_device(v, stream), device_bias = test::to_device(bias, stream);
  const auto device_mask = test::to_device(mask, stream);
  gpu::DeviceBuffer<float> device_out(q.size());
  biogpu_block_attention_call call{};
  call.q = array_of(device_q.data(), {kLines, 1, kQueries, kSize});
  call.k = array_of(device_k.data(), {kLines, 1, kKeys, kSize});
  call.v = array_of(device_v.data(), {kLines, 1, kKeys, kSize});
  call.bias = array_of(device_bias.data(), {1, 1, kQueries, kKeys});
  call.mask = array_of(device_mask.data(), {kLines, 1, 1, kKeys}, BIOGPU_BLOCK_U8);
  call.out = array_of(device_out.data(), {kLines, 1, kQueries, kSize});
  call.stream = stream.handle();
  std::size_t bytes = 0;
  REQUIRE(biogpu_block_attention_workspace(context.get(), &call, &bytes) == 0);
  const gpu::DeviceBuffer<std::uint8_t> workspace(bytes);
  call.workspace = const_cast<std::uint8_t*>(workspace.data());
  call.workspace_bytes = bytes;
  const int code = biogpu_block_attention(context.get(), &call);
  INFO(biogpu_block_error());
  REQUIRE(code == 0);
  const Numbers out = test::to_host(device_out, stream);
  Doubles right;
  for (std::size_t line = 0; line < kLines; ++line)
    for (std::size_t i = 0; i < kQueries; ++i) {
      const auto row = [&](const Numbers& x, std::size_t at) {
        const auto begin = x.begin() + static_cast<std::ptrdiff_t>(at * kSize);
        return Doubles(begin, begin + kSize);
      };
      std::vector<Doubles> keys, values;
      for (std::size_t j = 0; j < kKeys; ++j) {
        keys.push_back(row(k, line * kKeys + j));
        values.push_back(row(v, line * kKeys + j));
      }
      const Doubles one = test::attended_row(
          row(q, line * kQueries + i), keys, values,
          [&](std::size_t, std::size_t key) { return bias[i * kKeys + key]; },
          [&](std::size_t key) { return mask[line * kKeys + key] != 0; }, 1,
          1 / std::sqrt(static_cast<double>(kSize)));
      right.insert(right.end(), one.begin(), one.end());
    }
  CHECK(test::differences(out, right).first < 5e-5);
}
