// Every operation at widths that are no multiple of a vector, of a group of eight or of a tile:
// against its reference, on every context, twice with the same bytes.
#include <algorithm>
#include <set>

#include "tests/ops/widths/sweep.hpp"

using namespace biogpu;
using test::Bed;
using test::WidthSweep;

std::vector<WidthSweep>& test::registered_sweeps() {
  static std::vector<WidthSweep> sweeps;
  return sweeps;
}

namespace {

std::vector<WidthSweep> all_sweeps() {
  std::vector<WidthSweep> all = test::registered_sweeps();
  for (const auto& part : {test::attention_sweeps(), test::product_sweeps(), test::row_sweeps(),
                           test::tensor_sweeps()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

// Operations without a width: lists of atoms and of rows and matrices of 3 x 3, whose numbers have
// a fixed size.
const std::set<std::string> kWithoutWidth{"eigen3", "neighbour_list", "neighbour_list_grad",
                                          "segment_order"};

constexpr const char* kOperations[] = {
#define BIOGPU_OP(name, Args) #name,
#include "lib/ops/ops.def"
#undef BIOGPU_OP
};

}  // namespace

TEST_CASE("ops.widths: every operation is tried, or has no width", "[ops]") {
  std::set<std::string> tried;
  for (const WidthSweep& sweep : all_sweeps()) tried.insert(sweep.operation);
  for (const std::string name : kOperations) {
    CAPTURE(name);
    CHECK(tried.count(name) + kWithoutWidth.count(name) == 1);
  }
}

TEST_CASE("ops.widths: 1 to 17 and odd ones", "[ops]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const WidthSweep sweep = GENERATE(from_range(all_sweeps()));
  std::vector<std::int64_t> widths{1, 3, 12, 17, 30, 33, 101};
  // Operands of 16 bits are padded as those of 32 are, and emulated kernels take long.
  if (bed.is_cpu() || bed.precision() == test::Precision::fp32)
    for (const std::int64_t width : {2, 4, 5, 6, 7, 8, 9, 10, 11, 13, 14, 15, 16, 46, 66})
      widths.push_back(width);
  for (const std::int64_t width : widths) {
    CAPTURE(sweep.operation, width);
    sweep.run(bed, width);
  }
}
