#pragma once

// Operations at one width against their references, for the test that tries them at every width.

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "tests/ops/op_bed.hpp"

namespace biogpu::test {

// An operation by its name in ops.def, and a run of it at a width that checks its results.
struct WidthSweep {
  std::string operation;
  std::function<void(Bed&, std::int64_t)> run;
};

// Registers a sweep from the test file of its operation: a constant at namespace scope.
std::vector<WidthSweep>& registered_sweeps();
struct WidthSweepEntry {
  WidthSweepEntry(const char* operation, std::function<void(Bed&, std::int64_t)> run) {
    registered_sweeps().push_back({operation, std::move(run)});
  }
};

std::vector<WidthSweep> attention_sweeps();
std::vector<WidthSweep> product_sweeps();
std::vector<WidthSweep> row_sweeps();
std::vector<WidthSweep> tensor_sweeps();

// Columns of a tensor as heads; moves the column behind them.
inline Tensor heads_at(const Tensor& rows, std::int64_t& column, std::int64_t n_heads,
                       std::int64_t width) {
  const std::int64_t begin = column;
  column += n_heads * width;
  return tensor::split_heads(rows.slice(1, begin, column), n_heads);
}

// A result and how far it may be from the reference's.
struct Result {
  const Pair& pair;
  double bound;
};

// Bound of results that are operands: rounded numbers and their sums.
inline double operand_result(const Bed& bed) {
  return bed.is_cpu() ? 2e-5 : 2 * bed.operand_bound();
}

// Runs an operation on both contexts, and once more under test: the bytes are the same.
// run(context, of): of(x) gives what x has for the context.
template <class Run>
void compare(Bed& bed, std::initializer_list<Result> results, const Run& run) {
  run(
      bed.reference(), [](const auto& x) -> const auto& { return x.host; });
  const auto of_device = [](const auto& x) -> const auto& { return x.device; };
  run(bed.device(), of_device);
  std::vector<std::vector<float>> first;
  for (const Result& result : results) {
    CHECK(bed.difference(result.pair) < result.bound);
    first.push_back(bed.fetch(result.pair.device));
  }
  run(bed.device(), of_device);
  for (const Result& result : results) {
    CHECK(bed.fetch(result.pair.device) == first.front());
    first.erase(first.begin());
  }
}

}  // namespace biogpu::test
