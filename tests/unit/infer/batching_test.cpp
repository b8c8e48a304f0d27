#include "lib/tasks/batching.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "lib/core/error.hpp"
#include "lib/ops/cpu/cpu_context.hpp"
#include "tests/support/catch.hpp"

using namespace biogpu;

namespace {

constexpr std::size_t kMax = 3;  // sequences of a pass that the model has memory for

// Its logits are the token that they are for.
class Echo : public models::ProteinModel {
 public:
  explicit Echo(tensor::Context& backend) : ProteinModel(backend) {
    info_.d_model = 1;
    info_.has_logits = true;
    info_.vocabulary.tokens = {"A"};
  }

 private:
  std::vector<float> prepare(const models::TokenBatch&) override { return {}; }
  void forward(models::Pass& pass, const models::DeviceTokens& batch) override {
    if (&pass.context() != &context_) return;  // it is measured
    if (batch.segments.n_segments > static_cast<std::int64_t>(kMax))
      throw Error(ErrorCode::device_memory, "a pass too large");
    const auto* rows = batch.logit_rows.as<std::int32_t>();
    for (std::int64_t i = 0; i < batch.logit_rows.size(); ++i)
      pass.find(models::kLogits).as<float>()[i] =
          static_cast<float>(batch.ids.as<std::int32_t>()[rows[i]]);
  }
};

}  // namespace

TEST_CASE("infer.passes: halves of a pass give the rows of its sequences in order", "[infer]") {
  const auto backend = ops::make_cpu_context(1);
  Echo model(*backend);
  // Sequence i has i % 4 + 1 tokens between its ends, and asks for the first and the last of them.
  std::vector<tasks::Tokens> sequences;
  std::vector<std::vector<std::int32_t>> rows;
  std::vector<float> expected;
  for (std::int32_t i = 0; i < 20; ++i) {
    tasks::Tokens tokens(static_cast<std::size_t>(i % 4 + 3));
    for (std::size_t t = 0; t < tokens.size(); ++t)
      tokens[t] = 100 * i + static_cast<std::int32_t>(t);
    rows.push_back({1, i % 4 + 1});
    for (const std::int32_t row : rows.back())
      expected.push_back(static_cast<float>(100 * i + row));
    sequences.push_back(tokens);
  }
  for (const std::int64_t budget : {1, 10, 40, 1000}) {
    std::size_t n_given = 0, n_taken = 0;
    std::vector<float> got;
    const auto next = [&](tasks::PassInput& input) {
      if (n_given == sequences.size()) return false;
      input = {sequences[n_given], rows[n_given]};
      ++n_given;
      return true;
    };
    tasks::run_passes(model, next, {models::kLogits}, budget,
                      [&](std::size_t first, std::size_t n, const models::Outputs& outputs) {
                        CHECK(first == n_taken);
                        CHECK(n <= kMax);
                        n_taken += n;
                        const io::SharedArray& logits = outputs.at(models::kLogits).values;
                        got.insert(got.end(), logits.begin(), logits.end());
                      });
    CHECK(n_taken == sequences.size());
    CHECK(got == expected);
  }
}
