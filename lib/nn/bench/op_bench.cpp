#include "lib/nn/bench/op_bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "lib/core/error.hpp"
#include "lib/nn/float16.hpp"

namespace biogpu::nn {
namespace {

constexpr BenchShape kShapes[] = {
    {"ESM-2 8M", 1, 256, 320, 20},        {"ESM-2 35M", 16, 512, 480, 20},
    {"ESM-2 150M", 16, 512, 640, 20},     {"ESM-2 650M", 16, 512, 1280, 20},
    {"ProtBERT", 1, 256, 1024, 16, true}, {"ProtBERT", 16, 512, 1024, 16, true},
    {"ESM-2 3B", 16, 512, 2560, 40},      {"ESM-2 15B", 4, 512, 5120, 40},
};

float rounded(float value, DType as) {
  if (as == DType::f16) return from_f16(to_f16(value));
  if (as == DType::bf16) return from_bf16(to_bf16(value));
  return value;
}

}  // namespace

std::vector<OpTiming> OpBench::all() {
  for (const BenchShape& shape : kShapes) {
    shape_ = shape;
    n_tokens_ = shape.n_sequences * shape.length;
    run_shape();
    // The first shape has all operations.
    if (settings_.quick || results_.empty()) break;
  }
  if (results_.empty())
    throw Error(ErrorCode::usage,
                fmt::format("no operation's name holds '{}'; expected a part of: {}",
                            settings_.only, fmt::join(names_, ", ")));
  return std::move(results_);
}

OpBench::Both OpBench::make(std::initializer_list<std::int64_t> shape, float size, bool operand) {
  Both both;
  both.host = Tensor(nullptr, DType::f32, shape);
  both.values.resize(static_cast<std::size_t>(both.host.size()));
  const DType as = operand ? backend_.operand() : DType::f32;
  for (float& value : both.values) value = rounded(random_.next(size), as);
  both.host.data = both.values.data();
  both.device = backend_.upload(both.host, as);
  memory_.push_back(both.device.data);
  return both;
}

bool OpBench::wanted(const std::string& op) {
  if (std::find(names_.begin(), names_.end(), op) == names_.end()) names_.push_back(op);
  return op.find(settings_.only) != std::string::npos;
}

double OpBench::time(const std::function<void()>& run) {
  using Clock = std::chrono::steady_clock;
  run();
  backend_.synchronize();
  const auto seconds_of = [&](int n) {
    const auto begin = Clock::now();
    for (int i = 0; i < n; ++i) run();
    backend_.synchronize();
    return std::chrono::duration<double>(Clock::now() - begin).count() / n;
  };
  const double once = seconds_of(settings_.quick ? 1 : 3);
  if (settings_.quick) return once;
  return seconds_of(std::clamp(static_cast<int>(settings_.seconds_each / once), 3, 2000));
}

double OpBench::error(const Tensor& device, const Tensor& expected) {
  std::vector<float> got(static_cast<std::size_t>(expected.size()));
  backend_.copy_out(got.data(), device.slice(0, 0, expected.shape[0]));
  backend_.synchronize();
  double squares = 0, worst = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double want = expected.as<float>()[i];
    squares += want * want;
    const double apart = std::fabs(got[i] - want);
    worst = std::isfinite(apart) ? std::max(worst, apart) : INFINITY;
  }
  return worst / std::sqrt(squares / static_cast<double>(got.size()));
}

namespace {
// Three times the largest error of the recorded runs; nothing is timed that is further off.
double most_error(const Backend& backend) {
  switch (backend.precision()) {
    case Precision::fp16:
      return 0.01;
    case Precision::bf16:
      return 0.08;  // three bits less
    default:
      return 0.0015;
  }
}
}  // namespace

void OpBench::add(std::string op, std::string shape, double bytes, double operations,
                  double its_error, const std::function<void()>& run) {
  OpTiming timing;
  timing.op = std::move(op);
  timing.shape = fmt::format("{}: {}", shape_.name, shape);
  timing.bytes = bytes;
  timing.operations = operations;
  timing.error = its_error;
  if (!(its_error < most_error(backend_)))
    throw Error(ErrorCode::failed, fmt::format("{}, {}: the result is off by {:.1e}", timing.op,
                                               timing.shape, its_error));
  timing.seconds = time(run);
  results_.push_back(std::move(timing));
}

// Every seventh word is a mask, and scales are those of ESM-2's token dropout.
HostBatch OpBench::make_batch() const {
  constexpr std::int32_t kMask = 32;
  HostBatch host;
  for (std::int64_t s = 0; s <= shape_.n_sequences; ++s)
    host.starts.push_back(static_cast<std::int32_t>(s * shape_.length));
  const std::int64_t n_masks = (shape_.length + 3) / 7;  // of a sequence
  const double share = static_cast<double>(n_masks) / static_cast<double>(shape_.length);
  const auto scale = static_cast<float>(0.88 / (1 - share));
  for (std::int64_t t = 0; t < n_tokens_; ++t) {
    const std::int64_t i = t % shape_.length;
    const bool is_mask = i % 7 == 3;
    host.ids.push_back(is_mask ? kMask : static_cast<std::int32_t>(i % kMask));
    host.scale.push_back(is_mask ? 0.0f : scale);
  }
  return host;
}

void OpBench::run_shape() {
  const std::size_t bytes = static_cast<std::size_t>(n_tokens_) * 16 + (1u << 16);
  Arena arena(memory_.emplace_back(backend_.allocate(bytes)), bytes);
  const HostBatch host = make_batch();
  const Batch batch = backend_.upload_batch(host, arena);
  run_embed(batch, host);
  run_norms();
  run_log_softmax();
  run_mean_pool(batch);
  run_products(batch);
  run_attention(batch, false);
  run_attention(batch, true);
  backend_.synchronize();
  for (void* const memory : memory_) backend_.release(memory);
  memory_.clear();
}

Batch OpBench::host_batch(const HostBatch& whole, std::int64_t n_rows) {
  HostBatch part;
  part.ids.assign(whole.ids.begin(), whole.ids.begin() + n_rows);
  part.scale.assign(whole.scale.begin(), whole.scale.begin() + n_rows);
  part.starts = {0, static_cast<std::int32_t>(n_rows)};
  const std::size_t bytes = static_cast<std::size_t>(n_rows) * 16 + 4096;
  Arena arena(reference_->allocate(bytes), bytes);
  return reference_->upload_batch(part, arena);
}

}  // namespace biogpu::nn
