#include "lib/bwt/transform.hpp"

#include "lib/core/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/bwt/texts.hpp"

using namespace biogpu;

namespace {

bwt::StringSetText set_of(const std::vector<std::string>& strings) {
  bwt::StringSetText set;
  for (const std::string& string : strings) set.append(string);
  return set;
}

}  // namespace

TEST_CASE("bwt.transform: known transforms", "[bwt]") {
  CHECK(bwt::transform_set(set_of({"AGG", "AGC"}), {1}) == "GC$$GGAA");  // ropebwt3 build -LR
  CHECK(bwt::transform_set(set_of({"banana"}), {1}) == "annb$aa");
  CHECK(bwt::transform_set(set_of({"", ""}), {1}) == "$$");
  CHECK(bwt::transform_set(set_of({}), {1}).empty());
  const bwt::ByteBwt bytes = bwt::transform_bytes("banana", {1});
  CHECK(bytes.bytes == "annbaa");
  CHECK(bytes.primary == 4);
}

TEST_CASE("bwt.transform: the inverse gives the strings back", "[bwt]") {
  std::mt19937_64 random(3);
  for (int round = 0; round < 20; ++round) {
    std::vector<std::string> strings;
    for (int i = 0; i < round; ++i)
      strings.push_back(
          test::random_text(random(), random() % 70, round % 2 ? "ACGTNacgtn" : "AC"));
    const bwt::StringSetText set = set_of(strings);
    for (const int n_threads : {1, 3}) {
      const auto back = bwt::inverse_set(bwt::transform_set(set, {n_threads}), n_threads);
      CHECK(back.letters == set.letters);
      CHECK(back.ends == set.ends);
    }
  }
}

TEST_CASE("bwt.transform: any bytes come back", "[bwt]") {
  std::mt19937_64 random(4);
  for (const std::size_t n : {0, 1, 2, 3, 100, 70000}) {
    for (const unsigned n_values : {1u, 2u, 5u, 256u}) {
      std::string bytes(n, '\0');
      for (char& c : bytes) c = static_cast<char>(random() % n_values);
      const bwt::ByteBwt transformed = bwt::transform_bytes(bytes, {2});
      CHECK(bwt::inverse_bytes(transformed) == bytes);
    }
  }
}

TEST_CASE("bwt.transform: refuses more bytes than positions can tell", "[bwt]") {
  const std::string_view long_view("", std::size_t{0xffffffff});  // never read
  CHECK_THROWS_AS(bwt::suffix_array_of(long_view, 1), Error);
  CHECK(bwt::suffix_array_of("ba", 1)[0] == 1);
}

TEST_CASE("bwt.transform: refuses what is no transform", "[bwt]") {
  CHECK_THROWS_AS(bwt::transform_set({"A$A$", {3}}, {1}), Error);
  CHECK_THROWS_AS(bwt::inverse_set("ACGT", 1), Error);
  CHECK_THROWS_AS(bwt::inverse_set("$AC", 1), Error);
  CHECK_THROWS_AS(bwt::inverse_bytes({7, "abc"}), Error);
  CHECK_THROWS_AS(bwt::inverse_bytes({1, "ab"}), Error);
}

TEST_CASE("bwt.transform: a byte below '$' has no inverse, and is refused before the work",
          "[bwt]") {
  // Read as a transform, each of the '$' would give a circle as long as the text.
  for (const char low : {'#', '\n', ' ', '\0'}) {
    std::string text(300000, '$');
    text.replace(0, 150000, 150000, low);
    CHECK_THROWS_AS(bwt::inverse_set(text, 1), Error);
    CHECK_THROWS_AS(bwt::inverse_set(std::string("AC") + low + "$", 1), Error);
  }
}
