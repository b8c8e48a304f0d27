// Operations on rows: what a layer does beside its products.
#include <fmt/format.h>

#include <algorithm>

#include "lib/nn/bench/op_bench.hpp"

namespace biogpu::nn {

void OpBench::run_embed(const Batch& batch, const HostBatch& host) {
  if (!wanted("embed + norm")) return;
  const std::int64_t d = shape_.d, t = n_tokens_;
  const auto numbers = static_cast<double>(t * d);
  const Both table = make({kWords, d}, 1, false);
  const Both weight = make({d}, 1, false), bias = make({d}, 1, false);
  const Both sum = make({t, d}, 1, false), out = make({t, d}, 1, true);
  const Norm norm{weight.device, bias.device, 1e-5f}, host_norm{weight.host, bias.host, 1e-5f};
  const Embed op{table.device, {}, norm, sum.device, {}, out.device};
  backend_.embed(op, batch);
  std::vector<float> room(static_cast<std::size_t>(2 * kRows * d));
  const Tensor rows(room.data(), DType::f32, {2 * kRows, d});
  const Tensor its_sum = rows.slice(0, 0, kRows), its_out = rows.slice(0, kRows, 2 * kRows);
  reference_->embed({table.host, {}, host_norm, its_sum, its_out, {}}, host_batch(host, kRows));
  const double its_error = std::max(error(sum.device, its_sum), error(out.device, its_out));
  add("embed + norm", fmt::format("{} x {}", t, d),
      (4.0 + static_cast<double>(bytes_of(backend_.operand()))) * numbers, 8 * numbers, its_error,
      [&, op] { backend_.embed(op, batch); });
}

void OpBench::run_norms() {
  const bool first = wanted("norm + cast"), second = wanted("add + norm + cast");
  if (!first && !second) return;
  const std::int64_t d = shape_.d, t = n_tokens_;
  const auto numbers = static_cast<double>(t * d);
  const double wide = 4 * numbers;
  const double operand = static_cast<double>(bytes_of(backend_.operand())) * numbers;
  const std::string shape = fmt::format("{} x {}", t, d);
  const Both weight = make({d}, 1, false), bias = make({d}, 1, false);
  const Norm norm{weight.device, bias.device, 1e-5f}, host_norm{weight.host, bias.host, 1e-5f};
  const Both x = make({t, d}, 1, false), out = make({t, d}, 1, true);
  std::vector<float> room(static_cast<std::size_t>(2 * kRows * d));
  const Tensor rows(room.data(), DType::f32, {2 * kRows, d});
  const Tensor its_sum = rows.slice(0, 0, kRows), its_out = rows.slice(0, kRows, 2 * kRows);
  if (first) {
    const bool narrow = shape_.stream_of_operands;
    const Both stream = narrow ? make({t, d}, 1, true) : x;
    const AddLayerNorm op{stream.device, {}, norm, {}, {}, out.device};
    backend_.add_layer_norm(op);
    reference_->add_layer_norm({stream.host_rows(0, kRows), {}, host_norm, {}, its_out, {}});
    const double its_error = error(out.device, its_out);
    add("norm + cast", shape, (narrow ? operand : wide) + operand, 8 * numbers, its_error,
        [&, op] { backend_.add_layer_norm(op); });
  }
  if (second) {
    const Both y = make({t, d}, 1, true), sum = make({t, d}, 1, false);
    const AddLayerNorm op{x.device, y.device, norm, sum.device, {}, out.device};
    backend_.add_layer_norm(op);
    reference_->add_layer_norm(
        {x.host_rows(0, kRows), y.host_rows(0, kRows), host_norm, its_sum, its_out, {}});
    const double its_error = std::max(error(sum.device, its_sum), error(out.device, its_out));
    add("add + norm + cast", shape, 2 * wide + 2 * operand, 9 * numbers, its_error,
        [&, op] { backend_.add_layer_norm(op); });
  }
}

// In place, and of its own result the same again: it can be repeated.
void OpBench::run_log_softmax() {
  if (!wanted("log softmax")) return;
  const Both x = make({n_tokens_, kWords}, 10, false);
  backend_.log_softmax(x.device);
  std::vector<float> room(x.values.begin(), x.values.begin() + kRows * kWords);
  const Tensor expected(room.data(), DType::f32, {kRows, kWords});
  reference_->log_softmax(expected);
  const double its_error = error(x.device, expected);
  const auto numbers = static_cast<double>(n_tokens_ * kWords);
  add("log softmax", fmt::format("{} x {}", n_tokens_, kWords), 8 * numbers, 5 * numbers, its_error,
      [&] { backend_.log_softmax(x.device); });
}

void OpBench::run_mean_pool(const Batch& batch) {
  if (!wanted("mean pool")) return;
  const std::int64_t d = shape_.d, t = n_tokens_;
  const Both x = make({t, d}, 1, false), means = make({shape_.n_sequences, d}, 1, false);
  backend_.mean_pool(means.device, x.device, batch);
  // The reference computes the first sequence's.
  Batch first;
  first.n_sequences = 1;
  first.starts = {0, static_cast<std::int32_t>(shape_.length)};
  std::vector<float> room(static_cast<std::size_t>(d));
  const Tensor expected(room.data(), DType::f32, {1, d});
  reference_->mean_pool(expected, x.host_rows(0, shape_.length), first);
  const double its_error = error(means.device, expected);
  const auto numbers = static_cast<double>(t * d);
  add("mean pool", fmt::format("{} x {}", t, d), 4 * numbers, numbers, its_error,
      [&] { backend_.mean_pool(means.device, x.device, batch); });
}

}  // namespace biogpu::nn
