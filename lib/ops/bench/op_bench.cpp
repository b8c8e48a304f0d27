#include "lib/ops/bench/op_bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>

#include "lib/core/error.hpp"
#include "lib/tensor/float16.hpp"
#include "lib/tensor/shortened_starts.hpp"

namespace biogpu::ops {
namespace {

constexpr BenchShape kShapes[] = {
    {"ESM-2 8M", 1, 256, 320, 20},        {"ESM-2 35M", 16, 512, 480, 20},
    {"ESM-2 150M", 16, 512, 640, 20},     {"ESM-2 650M", 16, 512, 1280, 20},
    {"ProtBERT", 1, 256, 1024, 16, true}, {"ProtBERT", 16, 512, 1024, 16, true},
    {"ESM-2 3B", 16, 512, 2560, 40},      {"ESM-2 15B", 4, 512, 5120, 40},
};

float rounded(float value, DType as) {
  if (as == DType::f16) return tensor::from_f16(tensor::to_f16(value));
  if (as == DType::bf16) return tensor::from_bf16(tensor::to_bf16(value));
  return value;
}

}  // namespace

OpBench::OpBench(tensor::Context& context, OpBenchSettings settings, ModelBenches of_models)
    : context_(context),
      settings_(std::move(settings)),
      of_models_(std::move(of_models)),
      reference_(make_reference_context()) {}

std::vector<OpTiming> OpBench::all() {
  std::vector<BenchShape> shapes(std::begin(kShapes), std::end(kShapes));
  if (!settings_.atoms.empty()) shapes.clear();
  for (const std::int64_t n : settings_.atoms) {
    const std::int64_t n_molecules = (n + kMaxBenchAtoms - 1) / kMaxBenchAtoms;
    shapes.push_back({"atoms", n_molecules, n / n_molecules, 128, 4});
  }
  for (const BenchShape& shape : shapes) {
    shape_ = shape;
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

BenchTensor OpBench::make(std::initializer_list<std::int64_t> shape, float size, bool operand) {
  BenchTensor both;
  both.host = Tensor(nullptr, DType::f32, shape);
  both.values.resize(static_cast<std::size_t>(both.host.size()));
  const DType as = operand ? context_.compute_dtype() : DType::f32;
  for (float& value : both.values) value = rounded(random_.next(size), as);
  both.host.data = both.values.data();
  both.device = context_.upload(both.host, as);
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
  context_.synchronize();
  const auto seconds_of = [&](int n) {
    const auto begin = Clock::now();
    for (int i = 0; i < n; ++i) run();
    context_.synchronize();
    return std::chrono::duration<double>(Clock::now() - begin).count() / n;
  };
  const double once = seconds_of(settings_.quick ? 1 : 3);
  if (settings_.quick) return once;
  return seconds_of(std::clamp(static_cast<int>(settings_.seconds_each / once), 3, 2000));
}

double OpBench::error(const Tensor& device, const Tensor& expected) {
  std::vector<float> got(static_cast<std::size_t>(expected.size()));
  context_.copy_out(got.data(), device.slice(0, 0, expected.shape[0]));
  context_.synchronize();
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
double max_error(const tensor::Context& context) {
  switch (context.precision()) {
    case tensor::Precision::fp16:
      return 0.01;
    case tensor::Precision::bf16:
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
  if (!(its_error < max_error(context_)))
    throw Error(ErrorCode::failed, fmt::format("{}, {}: the result is off by {:.1e}", timing.op,
                                               timing.shape, its_error));
  timing.seconds = time(run);
  results_.push_back(std::move(timing));
}

BenchIndices OpBench::make_indices(std::int64_t count, std::int64_t n) {
  BenchIndices made;
  for (std::int64_t i = 0; i < count; ++i)
    made.values.push_back(static_cast<std::int32_t>(i * 7 % n));
  made.host = Tensor(made.values.data(), DType::i32, {count});
  made.device = made.host;
  made.device.data = memory_.emplace_back(context_.allocate(made.host.bytes()));
  context_.copy_in(made.device, made.values.data());
  return made;
}

Ragged OpBench::shortened(std::int32_t factor) {
  return upload_segments(tensor::shortened_starts(segments_.starts, factor));
}

Ragged OpBench::upload_segments(const std::vector<std::int32_t>& starts) {
  const std::size_t bytes = static_cast<std::size_t>(starts.back()) * 16 + (1u << 16);
  tensor::Arena arena(memory_.emplace_back(context_.allocate(bytes)), bytes);
  return context_.upload_ragged(starts, arena);
}

Ragged OpBench::one_segment(std::int64_t n) {
  Ragged segments;
  segments.n_rows = n;
  segments.n_segments = 1;
  segments.max_length = n;
  segments.starts = {0, static_cast<std::int32_t>(n)};
  return segments;
}

double OpBench::operand_bytes() const {
  return static_cast<double>(tensor::bytes_of(context_.compute_dtype()));
}

#define BIOGPU_OP(name, Args) void name##_bench(OpBench& bench);
#include "lib/ops/ops.def"
#undef BIOGPU_OP

void OpBench::run_shape() {
  std::vector<std::int32_t> starts;
  for (std::int64_t s = 0; s <= shape_.n_segments; ++s)
    starts.push_back(static_cast<std::int32_t>(s * shape_.length));
  segments_ = upload_segments(starts);
#define BIOGPU_OP(name, Args) name##_bench(*this);
#include "lib/ops/ops.def"
#undef BIOGPU_OP
  for (const auto bench : of_models_) bench(*this);
  context_.synchronize();
  for (void* const memory : memory_) context_.release(memory);
  memory_.clear();
}

}  // namespace biogpu::ops
