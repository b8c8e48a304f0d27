#include "lib/nn/float16.hpp"

#include <cmath>
#include <cstdint>

#include "tests/support/catch.hpp"

using namespace biogpu;

TEST_CASE("nn.float16: every 16-bit number comes back from fp32", "[nn]") {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    REQUIRE(std::isnan(nn::from_f16(half)) == ((bits & 0x7fff) > 0x7c00));
    REQUIRE(std::isinf(nn::from_f16(half)) == ((bits & 0x7fff) == 0x7c00));
    if (!std::isnan(nn::from_f16(half))) REQUIRE(nn::to_f16(nn::from_f16(half)) == half);
    if (!std::isnan(nn::from_bf16(half))) REQUIRE(nn::to_bf16(nn::from_bf16(half)) == half);
  }
  CHECK(std::isnan(nn::from_f16(nn::to_f16(NAN))));
  CHECK(std::isnan(nn::from_bf16(nn::to_bf16(NAN))));
}

TEST_CASE("nn.float16: numbers between two are rounded to the nearer, ties to even", "[nn]") {
  for (std::uint32_t bits = 0; bits < 0x7bff; ++bits) {
    const float low = nn::from_f16(static_cast<std::uint16_t>(bits));
    const float high = nn::from_f16(static_cast<std::uint16_t>(bits + 1));
    const float middle = low + (high - low) / 2;
    REQUIRE(nn::to_f16(middle) == (bits % 2 == 0 ? bits : bits + 1));
    REQUIRE(nn::to_f16(std::nextafter(middle, high)) == bits + 1);
    REQUIRE(nn::to_f16(-std::nextafter(middle, low)) == (bits | 0x8000));
  }
  CHECK(nn::to_f16(65519.9f) == 0x7bff);
  CHECK(nn::to_f16(65520.0f) == 0x7c00);
  CHECK(nn::to_f16(1e-8f) == 0);
}
