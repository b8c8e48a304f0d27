#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "tests/support/catch.hpp"
#include "tests/support/worse_of.hpp"

namespace biogpu::test {

// The largest difference, in units of the root mean square of what is right; and 1 - cosine.
struct Difference {
  double largest = 0, angle = 0;
};
template <class Got, class Right>
Difference difference(const Got& got, const Right& right) {
  REQUIRE(got.size() == right.size());
  double largest = 0, squares = 0, own = 0, both = 0;
  for (std::size_t i = 0; i < right.size(); ++i) {
    const double x = got[i], y = right[i];
    largest = worse_of(largest, std::fabs(x - y));
    squares += y * y;
    own += x * x;
    both += x * y;
  }
  const double size =
      std::sqrt(squares / static_cast<double>(std::max<std::size_t>(1, right.size())));
  return {largest / size, 1 - both / std::sqrt(own * squares)};
}

}  // namespace biogpu::test
