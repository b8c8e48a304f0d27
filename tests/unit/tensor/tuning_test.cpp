#include <cstdlib>

#include "lib/core/error.hpp"
#include "lib/core/version.hpp"
#include "lib/tensor/tuning/tuning_file.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/infer/folder.hpp"

using namespace biogpu;
using tensor::DeviceTuning;
using tensor::TiledProduct;

namespace {

const TiledProduct kProduct{"matmul rk", "bf16", {256, 128, 64, 4}};

std::string text_of_one() {
  return tensor::format_tuning({{"Some GPU", kVersion, {{kProduct, 64, 1.25}}}});
}

// The text with a part of it replaced.
std::string with(std::string text, const std::string& part, const std::string& other) {
  const std::size_t at = text.find(part);
  REQUIRE(at != std::string::npos);
  return text.replace(at, part.size(), other);
}

std::string tuning_error(const std::string& text) {
  const test::Folder folder;
  try {
    tensor::read_tuning(folder.write("t.json", text));
  } catch (const Error& error) {
    const std::string what = error.what();
    CHECK(error.code() == ErrorCode::bad_input);
    CHECK(what.find("t.json: ") != std::string::npos);
    CHECK(what.find('\n') == std::string::npos);
    return what;
  }
  return "";
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("tensor.tuning: what is written is read back", "[tensor]") {
  const test::Folder folder;
  const std::vector<DeviceTuning> read = tensor::read_tuning(folder.write("t.json", text_of_one()));
  REQUIRE(read.size() == 1);
  CHECK(read[0].device == "Some GPU");
  CHECK(read[0].version == kVersion);
  REQUIRE(read[0].tiles.size() == 1);
  CHECK(read[0].tiles[0].product == kProduct);
  CHECK(read[0].tiles[0].columns == 64);
  CHECK(read[0].tiles[0].speedup == 1.25);
  CHECK(tensor::read_tuning("").empty());
  CHECK(tensor::read_tuning(folder.path("none.json")).empty());
}

TEST_CASE("tensor.tuning: a table has the tiles of its device and this version", "[tensor]") {
  std::vector<DeviceTuning> tuning = {{"A", kVersion, {{kProduct, 64, 2}}},
                                      {"B", "0.0.0", {{kProduct, 64, 2}}}};
  tensor::TileTable a, b;
  tensor::fill_tiles(a, tuning, "A");
  tensor::fill_tiles(b, tuning, "B");
  CHECK(a.columns("matmul rk", "bf16", {256, 128, 64, 4}, 128) == 64);
  CHECK(b.columns("matmul rk", "bf16", {256, 128, 64, 4}, 128) == 128);
  CHECK(&tensor::tuning_of(tuning, "A") == &tuning[0]);
  CHECK(tensor::tuning_of(tuning, "B").tiles.empty());
  CHECK(tuning.size() == 3);
}

TEST_CASE("tensor.tuning: a table notes what it is asked for", "[tensor]") {
  tensor::TileTable table;
  std::map<TiledProduct, int> seen;
  table.note(&seen);
  table.choose(kProduct, 64);
  CHECK(table.columns("matmul rk", "bf16", {256, 128, 64, 4}, 128) == 64);
  table.note(nullptr);
  table.columns("gemm", "bf16", {1, 1, 1, 1}, 64);
  CHECK(seen == std::map<TiledProduct, int>{{kProduct, 128}});
  table.clear();
  CHECK(table.columns("matmul rk", "bf16", {256, 128, 64, 4}, 128) == 128);
}

TEST_CASE("tensor.tuning: files of another kind and tiles of no kernel are refused", "[tensor]") {
  const std::string text = text_of_one();
  CHECK(tuning_error(text) == "");
  CHECK(has(tuning_error("{"), "t.json"));
  for (const char* const other : {"[]", "{}", "3", R"({"kind": 1})", R"({"kind": "other"})"})
    CHECK(has(tuning_error(other), "no tuning data of this program"));
  CHECK(has(tuning_error(with(text, "\"devices\"", "\"device\"")), "without 'devices'"));
  CHECK(has(tuning_error(with(text, "\"Some GPU\"", "7")), "'device' of tuning data is no text"));
  CHECK(has(tuning_error(with(text, "matmul rk", "matmul")), "no operation 'matmul' has tiles"));
  CHECK(has(tuning_error(with(text, "bf16", "fp8")), "no operands of type 'fp8'"));
  CHECK(has(tuning_error(with(text, "\"columns\": 64", "\"columns\": 96")),
            "matmul rk has no tile of 96 columns; expected 64 or 128"));
  CHECK(has(tuning_error(with(text, "256", "-1")), "'m' of tuning data is no number above 0"));
  CHECK(has(tuning_error(with(text, "256", "1e300")), "'m' of tuning data is no number above 0"));
  CHECK(has(tuning_error(with(text, "1.25", "\"fast\"")), "'speedup' of tuning data is no number"));
  CHECK(has(tuning_error(text.substr(0, text.size() / 2)), "t.json"));
}

TEST_CASE("tensor.tuning: the file that is named, else that of the cache", "[tensor]") {
  const char* const before = std::getenv("XDG_CACHE_HOME");
  const std::string cache = before == nullptr ? "" : before;
  ::unsetenv("BIOGPU_TUNING");
  ::setenv("XDG_CACHE_HOME", "/some/cache", 1);
  CHECK(tensor::tuning_path() == "/some/cache/biogpu/tuning.json");
  ::setenv("BIOGPU_TUNING", "my.json", 1);
  CHECK(tensor::tuning_path() == "my.json");
  ::setenv("BIOGPU_TUNING", "", 1);
  CHECK(tensor::tuning_path() == "/some/cache/biogpu/tuning.json");
  ::unsetenv("BIOGPU_TUNING");
  if (before == nullptr)
    ::unsetenv("XDG_CACHE_HOME");
  else
    ::setenv("XDG_CACHE_HOME", cache.c_str(), 1);
}
