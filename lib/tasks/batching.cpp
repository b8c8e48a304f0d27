#include "lib/tasks/batching.hpp"

#include "lib/core/error.hpp"

namespace biogpu::tasks {
namespace {

// Sequences side by side until they are run.
class Pass {
 public:
  Pass(models::ProteinModel& model, const std::vector<std::string>& outputs, const Consume& consume)
      : model_(model), outputs_(outputs), consume_(consume) {}

  std::int64_t n_tokens() const { return starts_.back(); }

  void add(const PassInput& input) {
    ids_.insert(ids_.end(), input.tokens.begin(), input.tokens.end());
    for (const std::int32_t row : input.logit_rows) rows_.push_back(starts_.back() + row);
    starts_.push_back(static_cast<std::int32_t>(ids_.size()));
    row_starts_.push_back(rows_.size());
  }

  void run() {
    const std::size_t n = starts_.size() - 1;
    if (n > 0) run_part(0, n);
    n_done_ += n;
    ids_.clear();
    rows_.clear();
    starts_ = {0};
    row_starts_ = {0};
  }

 private:
  // Sequences [first, first + n) at once, or in halves where memory is short.
  void run_part(std::size_t first, std::size_t n) {
    const std::int32_t begin = starts_[first];
    models::TokenBatch batch;
    batch.ids.assign(ids_.begin() + begin, ids_.begin() + starts_[first + n]);
    for (std::size_t i = first; i <= first + n; ++i) batch.starts.push_back(starts_[i] - begin);
    for (std::size_t i = row_starts_[first]; i < row_starts_[first + n]; ++i)
      batch.logit_rows.push_back(rows_[i] - begin);
    try {
      consume_(n_done_ + first, n, model_.run(std::move(batch), outputs_));
      return;
    } catch (const Error& error) {
      if (error.code() != ErrorCode::device_memory || n == 1) throw;
    }
    run_part(first, n / 2);
    run_part(first + n / 2, n - n / 2);
  }

  models::ProteinModel& model_;
  const std::vector<std::string>& outputs_;
  const Consume& consume_;
  std::size_t n_done_ = 0;  // sequences of earlier passes
  std::vector<std::int32_t> ids_, starts_ = {0};
  std::vector<std::int32_t> rows_;             // tokens of the pass
  std::vector<std::size_t> row_starts_ = {0};  // of each sequence in rows_
};

}  // namespace

void run_passes(models::ProteinModel& model, const NextInput& next,
                const std::vector<std::string>& outputs, std::int64_t budget_tokens,
                const Consume& consume) {
  Pass pass(model, outputs, consume);
  for (PassInput input; next(input);) {
    if (pass.n_tokens() + static_cast<std::int64_t>(input.tokens.size()) > budget_tokens)
      pass.run();
    pass.add(input);
  }
  pass.run();
}

void run_passes(models::ProteinModel& model, const std::vector<Tokens>& sequences,
                const std::vector<std::string>& outputs, std::int64_t budget_tokens,
                const Consume& consume) {
  std::size_t i = 0;
  const auto next = [&](PassInput& input) {
    if (i == sequences.size()) return false;
    input = {sequences[i++]};
    return true;
  };
  run_passes(model, next, outputs, budget_tokens, consume);
}

}  // namespace biogpu::tasks
