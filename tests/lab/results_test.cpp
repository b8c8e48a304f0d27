#include <cmath>

#include "lib/core/error.hpp"
#include "lib/lab/baseline.hpp"
#include "lib/lab/kernel_report.hpp"
#include "lib/lab/profile_range.hpp"
#include "lib/lab/roofline_svg.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/infer/folder.hpp"

using namespace biogpu;
using lab::BlockResult;

namespace {

BlockResult result(const std::string& block, std::int64_t n, double seconds) {
  BlockResult one;
  one.block = block;
  one.extents = {n, 8};
  one.median_s = one.least_s = seconds;
  one.operations = 1e9;
  one.bytes = 1e7;
  return one;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string error_of_baseline(const std::string& text) {
  const test::Folder folder;
  try {
    lab::Baseline(folder.write("b.json", text));
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::bad_input);
    CHECK(has(error.what(), "b.json: "));
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("lab.results: a plot with and without a roofline", "[lab]") {
  const std::vector<BlockResult> results = {result("a<b", 4, 1e-3), result("c", 9, 2e-3),
                                            result("a<b", 9, 4e-3)};
  const std::string plain = lab::roofline_svg(results, {}, "CPU & more");
  CHECK(has(plain, "<svg "));
  CHECK(has(plain, "CPU &amp; more"));
  CHECK(has(plain, "a&lt;b"));
  CHECK_FALSE(has(plain, "polyline"));
  CHECK_FALSE(has(plain, "nan"));
  const std::string roofed = lab::roofline_svg(results, {1e12, 1e11}, "");
  CHECK(has(roofed, "polyline"));
  CHECK_FALSE(has(roofed, "nan"));
  CHECK_FALSE(has(lab::roofline_svg({}, {}, ""), "nan"));
}

TEST_CASE("lab.results: a baseline is read back and checked", "[lab]") {
  const test::Folder folder;
  const lab::Baseline baseline(folder.write(
      "b.json",
      R"({"device": "D", "precision": "bf16", "blocks": [{"block": "a", "n": 4, "c": 8, "median_s": 0.5}]})"));
  CHECK(baseline.device() == "D");
  CHECK(baseline.precision() == "bf16");
  CHECK(baseline.seconds(result("a", 4, 1)) == 0.5);
  CHECK(baseline.seconds(result("a", 5, 1)) == 0);
  CHECK(baseline.seconds(result("b", 4, 1)) == 0);
  CHECK(has(error_of_baseline("[]"), "has no list 'blocks'"));
  CHECK(has(error_of_baseline(R"({"blocks": []})"), "has no text 'device'"));
  const std::string head = R"({"device": "D", "precision": "fp32", "blocks": [)";
  CHECK(has(error_of_baseline(head + R"({"block": "a", "n": 4, "c": 8}]})"), "has no numbers"));
  CHECK(has(error_of_baseline(head + R"({"block": "a", "n": 4, "c": 8, "median_s": 0}]})"),
            "is not above 0"));
  CHECK(
      has(error_of_baseline(head + R"({"n": 4, "c": 8, "median_s": 1}]})"), "has no text 'block'"));
  CHECK(has(error_of_baseline(head), "b.json"));
}

TEST_CASE("lab.results: a range without a name or a library is nothing", "[lab]") {
  const lab::ProfileRange none(nullptr), some("a block");
  CHECK((lab::profile_library() == nullptr || *lab::profile_library() != '\0'));
}

TEST_CASE("lab.results: names of kernels without what all share", "[lab]") {
  CHECK(lab::kernel_name("") == "");
  CHECK(lab::kernel_name("nvjet_hsh_128x64_coopA") == "nvjet_hsh_128x64_coopA");
  CHECK(lab::kernel_name("_ZN6biogpu3gpu3ops12_GLOBAL__N_110map_kernelENS_3ops3MapE") ==
        "ops::map_kernel");
  CHECK(lab::kernel_name("_ZN6biogpu3gpu12_GLOBAL__N_111sort_kernelILi64EjEEvNS0_4ArgsIT0_EE") ==
        "sort_kernel<64, unsigned int>");
}

TEST_CASE("lab.results: the longest kernel is that of all its launches", "[lab]") {
  CHECK(lab::longest_kernel({}).launch == nullptr);
  std::vector<tensor::KernelUse> kernels(4);
  const char* const symbols[] = {"a", "b", "a", "c"};
  const double seconds[] = {3, 4, 2, 1};
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    kernels[i].symbol = symbols[i];
    kernels[i].seconds = seconds[i];
  }
  const lab::LongestKernel longest = lab::longest_kernel(kernels);
  CHECK(longest.launch == &kernels[0]);
  CHECK(longest.share == Approx(0.5));
  for (tensor::KernelUse& kernel : kernels) kernel.seconds = 0;
  CHECK(lab::longest_kernel(kernels).launch != nullptr);
  CHECK(lab::longest_kernel(kernels).share == 0);
}
