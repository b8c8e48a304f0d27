#include "lib/models/enformer/positional_features.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "lib/core/error.hpp"
#include "lib/models/layers/relative_keys.hpp"
#include "tests/models/enformer/vectors.hpp"
#include "tests/support/catch.hpp"

using namespace biogpu;
using models::relative_keys;
using models::enformer::GammaForm;
using models::enformer::PositionalFeatures;
using test::difference;
using test::Vectors;

namespace {

constexpr std::int64_t kPositions = 64, kFeatures = 24;  // of the tiny model

std::vector<float> rounded(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

}  // namespace

TEST_CASE("enformer.positional: features equal enformer-pytorch in double precision",
          "[enformer][model]") {
  const Vectors expected("enformer_tiny/expected.safetensors");
  const auto features = PositionalFeatures{kPositions, kFeatures, GammaForm::features}.compute();
  CHECK(difference(rounded(features), expected["features"]) < 1e-6);
  const auto positions = PositionalFeatures{kPositions, kFeatures, GammaForm::positions}.compute();
  CHECK(difference(rounded(positions), expected["features_positions"]) < 1e-6);
  // The two forms differ by far more than they differ from their references.
  CHECK(difference(rounded(positions), expected["features"]) > 0.1);
}

TEST_CASE("enformer.positional: relative keys are the features times each layer's weight",
          "[enformer][model]") {
  const Vectors expected("enformer_tiny/expected.safetensors");
  const Vectors weights("enformer_tiny/model.safetensors");
  const auto features = PositionalFeatures{kPositions, kFeatures, GammaForm::features}.compute();
  for (const int layer : {0, 1}) {
    const std::string n = std::to_string(layer);
    std::vector<float> weight = weights["transformer." + n + ".0.fn.1.to_rel_k.weight"];
    const tensor::Tensor matrix(weight.data(), tensor::DType::f32, {32, kFeatures});
    const std::vector<float> keys = relative_keys(features, 2, matrix);
    // By position, then head, in the reference.
    std::vector<float> by_position(keys.size());
    constexpr std::size_t kRows = 2 * kPositions - 1, kKey = 16;
    REQUIRE(keys.size() == 2 * kRows * kKey);
    for (std::size_t h = 0; h < 2; ++h)
      for (std::size_t i = 0; i < kRows; ++i)
        for (std::size_t c = 0; c < kKey; ++c)
          by_position[(i * 2 + h) * kKey + c] = keys[(h * kRows + i) * kKey + c];
    CHECK(difference(by_position, expected["relative/" + n]) < 1e-6);
  }
}

TEST_CASE(
    "enformer.positional: the formula over positions is the original's table but for rounding",
    "[enformer][model]") {
  // Some numbers of DeepMind's fp32 table, whose own rounding is up to 2.5e-3.
  struct Entry {
    std::int64_t distance, feature;
    double value;
  };
  const Entry entries[] = {{0, 0, 5.35614e-07},    {40, 0, 0.982896},    {48, 0, 0.872011},
                           {100, 3, 2.99056e-05},  {300, 5, 0.847085},   {700, 14, 0.721329},
                           {768, 15, 1},           {1400, 28, 0.939413}, {1535, 31, 1},
                           {1200, 31, 6.03167e-07}};
  const auto features =
      PositionalFeatures{models::enformer::kTablePositions, 192, GammaForm::positions}.compute();
  for (const Entry& entry : entries)
    for (const int side : {-1, 1}) {
      const std::int64_t row = models::enformer::kTablePositions - 1 + side * entry.distance;
      const double got = features[static_cast<std::size_t>(row * 192 + 64 + entry.feature)];
      INFO(entry.distance << " " << entry.feature);
      CHECK(std::fabs(got - entry.value) < 3e-3 * entry.value + 1e-8);
    }
}

namespace {

// Rows that enformer-pytorch has in double precision with DeepMind's table (use_tf_gamma), of the
// published shape.
struct TableRows {
  static constexpr std::int64_t kAll = 2 * models::enformer::kTablePositions - 1;
  static constexpr std::int64_t kGammas = models::enformer::kTableFeatures, kWidth = 6 * kGammas;

  const Vectors expected{"enformer_table/expected.safetensors"};
  std::vector<std::size_t> rows;

  TableRows() {
    for (const float position : expected["positions"])
      rows.push_back(static_cast<std::size_t>(static_cast<std::int64_t>(position) +
                                              models::enformer::kTablePositions - 1));
  }
  // The rows of a matrix that has all of them.
  std::vector<float> of(const std::vector<double>& all, std::size_t width) const {
    std::vector<float> found;
    for (const std::size_t row : rows)
      for (std::size_t k = 0; k < width; ++k)
        found.push_back(static_cast<float>(all[row * width + k]));
    return found;
  }
  // All rows of the table, of which those not known are NaN.
  std::vector<float> table() const {
    std::vector<float> all(static_cast<std::size_t>(kAll * kGammas), NAN);
    const std::vector<float> known = expected["table"];
    for (std::size_t i = 0; i < rows.size(); ++i)
      std::copy_n(known.begin() + static_cast<std::ptrdiff_t>(i * kGammas), kGammas,
                  all.begin() + static_cast<std::ptrdiff_t>(rows[i] * kGammas));
    return all;
  }
};

}  // namespace

TEST_CASE("enformer.positional: features and keys with the table equal enformer-pytorch's",
          "[enformer][model]") {
  const TableRows some;
  REQUIRE(some.rows.size() > 80);
  REQUIRE(some.rows.front() == 0);
  REQUIRE(some.rows.back() == TableRows::kAll - 1);
  const std::vector<float> table = some.table();
  const auto features = PositionalFeatures{models::enformer::kTablePositions, TableRows::kWidth,
                                           GammaForm::tf_table, table.data()}
                            .compute();
  REQUIRE(features.size() == static_cast<std::size_t>(TableRows::kAll * TableRows::kWidth));
  CHECK(difference(some.of(features, TableRows::kWidth), some.expected["features"]) < 1e-6);

  std::vector<float> weight = some.expected["to_rel_k"];
  constexpr std::int64_t kKeys = 16;
  const tensor::Tensor matrix(weight.data(), tensor::DType::f32, {kKeys, TableRows::kWidth});
  const std::vector<float> keys = relative_keys(features, 1, matrix);
  const std::vector<double> as_double(keys.begin(), keys.end());
  CHECK(difference(some.of(as_double, kKeys), some.expected["relative"]) < 1e-6);

  // The formula gives nearly the same, and not the same: the table was computed in single
  // precision.
  const auto formula =
      PositionalFeatures{models::enformer::kTablePositions, TableRows::kWidth, GammaForm::positions}
          .compute();
  const double rounding =
      difference(some.of(formula, TableRows::kWidth), some.expected["features"]);
  CHECK(rounding < 5e-3);
  CHECK(rounding > 1e-5);
  const auto others =
      PositionalFeatures{models::enformer::kTablePositions, TableRows::kWidth, GammaForm::features}
          .compute();
  CHECK(difference(some.of(others, TableRows::kWidth), some.expected["features"]) > 0.1);
}

TEST_CASE("enformer.positional: a stored table stands in the third class, and with the sign",
          "[enformer][model]") {
  const std::int64_t n_rows = 2 * kPositions - 1, n = kFeatures / 6;
  std::vector<float> table(static_cast<std::size_t>(n_rows * n));
  for (std::size_t i = 0; i < table.size(); ++i) table[i] = 0.25f + 0.01f * static_cast<float>(i);
  const auto features =
      PositionalFeatures{kPositions, kFeatures, GammaForm::tf_table, table.data()}.compute();
  const auto formula = PositionalFeatures{kPositions, kFeatures, GammaForm::positions}.compute();
  for (std::int64_t i = 0; i < n_rows; ++i)
    for (std::int64_t k = 0; k < kFeatures; ++k) {
      const auto at = static_cast<std::size_t>(i * kFeatures + k);
      const std::int64_t kind = k / n % 3;
      const double sign = k < kFeatures / 2 ? 1 : i < kPositions - 1 ? -1 : i > kPositions - 1;
      const double expected =
          kind == 2 ? sign * static_cast<double>(table[static_cast<std::size_t>(i * n + k % n)])
                    : formula[at];
      REQUIRE(features[at] == expected);
    }
}

TEST_CASE("enformer.positional: forms of gamma have names", "[enformer][model]") {
  for (const GammaForm form : {GammaForm::tf_table, GammaForm::positions, GammaForm::features})
    CHECK(models::enformer::parse_gamma_form(models::enformer::name_of(form)) == form);
  CHECK_THROWS_AS(models::enformer::parse_gamma_form("tf_table"), Error);
}
