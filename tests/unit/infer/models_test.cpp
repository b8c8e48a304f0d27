#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "lib/core/error.hpp"
#include "lib/ops/reference_context.hpp"
#include "lib/tasks/score.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/infer/loaded.hpp"

using namespace biogpu;
using tasks::Tokens;
using test::check_against_vectors;
using test::compute;
using test::kModels;
using test::kSequences;
using test::Loaded;

namespace {

// The rows of log-probabilities that each sequence gets.
std::vector<std::vector<float>> rows_of(Loaded& loaded, const std::vector<Tokens>& sequences,
                                        const std::vector<tasks::Positions>& positions, bool masked,
                                        std::int64_t budget) {
  std::vector<std::vector<float>> rows;
  tasks::log_probabilities(*loaded.model, sequences, positions, masked, budget,
                           [&](std::size_t i, const tasks::LogProbabilities& of_sequence) {
                             REQUIRE(i == rows.size());
                             rows.emplace_back(of_sequence.rows.begin(), of_sequence.rows.end());
                           });
  return rows;
}

}  // namespace

TEST_CASE("infer.models: fp32 equals transformers in double precision", "[infer][model]") {
  const std::string name = GENERATE(values(kModels));
  Loaded loaded(name);
  check_against_vectors(name, loaded, 1e-5);
}

TEST_CASE("infer.models: so does the reference of the operations", "[infer][model]") {
  const std::string name = GENERATE(values({"esm2_head16", "protbert_head16"}));
  Loaded loaded(name, ops::make_reference_context());
  check_against_vectors(name, loaded, 1e-5);
}

TEST_CASE("infer.models: a sequence gets the same bytes in any batch", "[infer][model]") {
  Loaded loaded(GENERATE(values({"esm2_head16", "esm2_head24", "protbert_head16"})));
  const auto alone = compute(loaded, {4}, 1000);
  const auto check_same = [&](const std::vector<io::NamedArray>& arrays) {
    for (const io::NamedArray& array : alone) {
      const auto same = std::find_if(arrays.begin(), arrays.end(),
                                     [&](const auto& a) { return a.key == array.key; });
      REQUIRE(same != arrays.end());
      CHECK(same->values == array.values);
    }
  };
  check_same(compute(loaded, {0, 1, 4, 2, 3}, 1000));
  check_same(compute(loaded, {3, 2, 1, 0, 4}, 60));
}

TEST_CASE("infer.models: contacts are symmetric probabilities", "[infer][model]") {
  Loaded loaded("esm2_head16");
  const auto arrays = compute(loaded, {4}, 1000);
  const io::NamedArray& contacts = arrays.back();
  const auto n = static_cast<std::size_t>(contacts.shape[0]);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      const float p = contacts.values[i * n + j];
      REQUIRE((p >= 0 && p <= 1));
      REQUIRE(std::fabs(p - contacts.values[j * n + i]) < 1e-6f);
    }
}

TEST_CASE("infer.score: likelihoods are those of the masked positions one by one",
          "[infer][model]") {
  Loaded loaded(GENERATE(values({"esm2_head16", "protbert_head16"})));
  const models::Vocabulary& vocabulary = loaded.model->info().vocabulary;
  const Tokens sequence = loaded.tokens(kSequences[1].second);
  double sum = 0;
  for (std::size_t t = 1; t + 1 < sequence.size(); ++t) {
    Tokens masked = sequence;
    masked[t] = vocabulary.mask;
    const auto at = static_cast<std::int32_t>(t);
    const auto row = rows_of(loaded, {masked}, {{at}}, false, 1000)[0];
    sum += static_cast<double>(row[static_cast<std::size_t>(sequence[t])]);
    double total = 0;
    for (const float v : row) total += std::exp(static_cast<double>(v));
    CHECK(std::fabs(total - 1) < 1e-5);
  }
  const tasks::Positions positions = tasks::residue_positions(vocabulary, sequence);
  // The budget cuts the copies into passes of one and of three.
  for (const std::int64_t budget : {1, 30, 1000}) {
    const auto rows = rows_of(loaded, {sequence}, {positions}, true, budget)[0];
    const auto pll = tasks::pseudo_likelihood(sequence, {positions, rows});
    CHECK(pll.n_residues == 7);
    CHECK(std::fabs(pll.log_likelihood - sum) < 1e-5);
  }
}

TEST_CASE("infer.score: sequences that share passes get the rows they get alone",
          "[infer][model]") {
  Loaded loaded(GENERATE(values({"esm2_head16", "protbert_head16"})));
  const models::Vocabulary& vocabulary = loaded.model->info().vocabulary;
  std::vector<Tokens> sequences;
  std::vector<tasks::Positions> positions;
  // Some ask for nothing: the first, one in the middle, the last.
  for (const auto& [text, its_positions] : std::vector<std::pair<std::string, tasks::Positions>>{
           {"", {}},
           {"MKTAYIA", {2, 7}},
           {"MK", {}},
           {"MKT<mask>LLA", {4}},
           {"GSHMRYDWVELKNATCIPQFLSTEEW", {1, 2, 3, 13, 26}},
           {"MKTAYIA", {1, 2, 3, 4, 5, 6, 7}},
           {"W", {}}}) {
    sequences.push_back(loaded.tokens(text));
    positions.push_back(its_positions);
  }
  for (const bool masked : {false, true})
    for (const std::int64_t budget : {1, 20, 1000}) {
      const auto together = rows_of(loaded, sequences, positions, masked, budget);
      REQUIRE(together.size() == sequences.size());
      for (std::size_t i = 0; i < sequences.size(); ++i) {
        CHECK(together[i].size() ==
              positions[i].size() * static_cast<std::size_t>(vocabulary.size()));
        CHECK(together[i] == rows_of(loaded, {sequences[i]}, {positions[i]}, masked, 1)[0]);
      }
    }
}

TEST_CASE("infer.passes: a pass holds what the budget has room for, and no more is made",
          "[infer][model]") {
  Loaded loaded("esm2_head16");
  const Tokens sequence = loaded.tokens("MKTAYIA");  // 9 tokens
  std::size_t n_made = 0;
  std::vector<std::size_t> passes;
  const auto next = [&](tasks::PassInput& input) {
    input = {sequence};
    return ++n_made <= 8;
  };
  tasks::run_passes(*loaded.model, next, {models::kLogits}, 30,
                    [&](std::size_t first, std::size_t n, const models::Outputs&) {
                      CHECK(n_made <= first + n + 1);  // the next one told that the pass is full
                      passes.push_back(n);
                    });
  CHECK(passes == std::vector<std::size_t>{3, 3, 2});
}

TEST_CASE("infer.score: variants add up over their sites", "[infer][model]") {
  Loaded loaded("esm2_head16");
  const models::Vocabulary& vocabulary = loaded.model->info().vocabulary;
  const Tokens sequence = loaded.tokens("MKTAYIA");
  std::vector<tasks::Variant> variants(4);
  const char* const texts[] = {"K12W", "Y15C", "K12W:Y15C", "WT"};
  for (std::size_t i = 0; i < 4; ++i) {
    variants[i].text = texts[i];
    tasks::resolve_variant(variants[i], vocabulary, sequence, 11, "test");
  }
  const tasks::Positions positions = tasks::variant_positions(variants);
  CHECK(positions == tasks::Positions{2, 5});
  for (const bool masked : {false, true}) {
    const auto rows = rows_of(loaded, {sequence}, {positions}, masked, 1000)[0];
    const auto scores = tasks::variant_scores(variants, {positions, rows});
    CHECK(std::fabs(scores[0] + scores[1] - scores[2]) < 1e-9);
    CHECK(scores[3] == 0);
    CHECK(scores[0] != 0);
  }
  const auto singles = tasks::single_variants(vocabulary, sequence, 1);
  CHECK(singles.size() == 7 * 19);
  CHECK(tasks::variant_positions(singles) == tasks::single_positions(vocabulary, sequence));
}

TEST_CASE("infer.models: layers are counted from either end", "[infer]") {
  Loaded loaded("esm2_head16");
  CHECK(tasks::resolve_layers({-1, 0}, loaded.model->info()) == std::vector<int>{0, 2});
  CHECK_THROWS_AS(tasks::resolve_layers({0, 2, -3}, loaded.model->info()), Error);
  CHECK_THROWS_AS(tasks::resolve_layers({3}, loaded.model->info()), Error);
  CHECK_THROWS_AS(tasks::resolve_layers({-4}, loaded.model->info()), Error);
}
