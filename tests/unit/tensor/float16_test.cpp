#include "lib/tensor/float16.hpp"

#include <cmath>
#include <cstdint>

#include "tests/support/catch.hpp"

using namespace biogpu;

TEST_CASE("tensor.float16: every 16-bit number comes back from fp32", "[tensor]") {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    REQUIRE(std::isnan(tensor::from_f16(half)) == ((bits & 0x7fff) > 0x7c00));
    REQUIRE(std::isinf(tensor::from_f16(half)) == ((bits & 0x7fff) == 0x7c00));
    if (!std::isnan(tensor::from_f16(half)))
      REQUIRE(tensor::to_f16(tensor::from_f16(half)) == half);
    if (!std::isnan(tensor::from_bf16(half)))
      REQUIRE(tensor::to_bf16(tensor::from_bf16(half)) == half);
  }
  CHECK(std::isnan(tensor::from_f16(tensor::to_f16(NAN))));
  CHECK(std::isnan(tensor::from_bf16(tensor::to_bf16(NAN))));
}

TEST_CASE("tensor.float16: numbers between two are rounded to the nearer, ties to even",
          "[tensor]") {
  for (std::uint32_t bits = 0; bits < 0x7bff; ++bits) {
    const float low = tensor::from_f16(static_cast<std::uint16_t>(bits));
    const float high = tensor::from_f16(static_cast<std::uint16_t>(bits + 1));
    const float middle = low + (high - low) / 2;
    REQUIRE(tensor::to_f16(middle) == (bits % 2 == 0 ? bits : bits + 1));
    REQUIRE(tensor::to_f16(std::nextafter(middle, high)) == bits + 1);
    REQUIRE(tensor::to_f16(-std::nextafter(middle, low)) == (bits | 0x8000));
  }
  CHECK(tensor::to_f16(65519.9f) == 0x7bff);
  CHECK(tensor::to_f16(65520.0f) == 0x7c00);
  CHECK(tensor::to_f16(1e-8f) == 0);
}
