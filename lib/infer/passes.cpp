#include "lib/infer/passes.hpp"

#include "lib/core/error.hpp"

namespace biogpu::infer {
namespace {

using Consume = std::function<void(std::size_t, std::size_t, const Outputs&)>;

// Sequences [first, first + n) in one pass, or in halves where memory is short.
void run_pass(ProteinModel& model, const std::vector<Tokens>& sequences, const Request& request,
              std::size_t first, std::size_t n, const Consume& consume) {
  nn::HostBatch batch;
  batch.starts.push_back(0);
  Request of_pass = request;
  of_pass.logit_rows.clear();
  for (std::size_t i = first; i < first + n; ++i) {
    if (!request.logit_rows.empty())
      of_pass.logit_rows.push_back(batch.starts.back() + request.logit_rows[i]);
    batch.ids.insert(batch.ids.end(), sequences[i].begin(), sequences[i].end());
    batch.starts.push_back(static_cast<std::int32_t>(batch.ids.size()));
  }
  try {
    consume(first, n, model.run(std::move(batch), of_pass));
    return;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::device_memory || n == 1) throw;
  }
  run_pass(model, sequences, request, first, n / 2, consume);
  run_pass(model, sequences, request, first + n / 2, n - n / 2, consume);
}

}  // namespace

void run_passes(ProteinModel& model, const std::vector<Tokens>& sequences, const Request& request,
                std::int64_t budget_tokens, const Consume& consume) {
  for (std::size_t first = 0; first < sequences.size();) {
    std::size_t n = 0;
    for (std::int64_t tokens = 0; first + n < sequences.size(); ++n) {
      tokens += static_cast<std::int64_t>(sequences[first + n].size());
      if (n > 0 && tokens > budget_tokens) break;
    }
    run_pass(model, sequences, request, first, n, consume);
    first += n;
  }
}

}  // namespace biogpu::infer
