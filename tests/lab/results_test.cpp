#include <cmath>

#include "lib/core/error.hpp"
#include "lib/lab/baseline.hpp"
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
