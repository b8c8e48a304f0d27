#include "lib/nn/bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <memory>
#include <utility>

#include "lib/nn/float16.hpp"
#include "lib/nn/reference_ops.hpp"

namespace biogpu::nn {
namespace {

// A model's width and batch, as operations see them.
struct Shape {
  const char* name;
  std::int64_t n_sequences, length, d, n_heads;
  bool stream_of_operands = false;  // the residual stream has the operands' type
};

constexpr Shape kShapes[] = {
    {"ESM-2 8M", 1, 256, 320, 20},        {"ESM-2 35M", 16, 512, 480, 20},
    {"ESM-2 150M", 16, 512, 640, 20},     {"ESM-2 650M", 16, 512, 1280, 20},
    {"ProtBERT", 1, 256, 1024, 16, true}, {"ProtBERT", 16, 512, 1024, 16, true},
    {"ESM-2 3B", 16, 512, 2560, 40},      {"ESM-2 15B", 4, 512, 5120, 40},
};

// Uniform numbers of [-size, size) from a 64-bit counter.
class Random {
 public:
  float next(float size) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return size * (static_cast<float>(state_ >> 40) * 0x1p-23f - 1.0f);
  }

 private:
  std::uint64_t state_ = 1;
};

float rounded(float value, DType as) {
  if (as == DType::f16) return from_f16(to_f16(value));
  if (as == DType::bf16) return from_bf16(to_bf16(value));
  return value;
}

class OpBench {
 public:
  OpBench(Backend& backend, OpBenchSettings settings)
      : backend_(backend), settings_(std::move(settings)), reference_(make_reference_backend()) {}

  std::vector<OpTiming> all() {
    for (const Shape& shape : kShapes) {
      shape_ = shape;
      n_tokens_ = shape.n_sequences * shape.length;
      run_shape();
      if (settings_.quick) break;
    }
    return std::move(results_);
  }

 private:
  // The same numbers for the backend and, on the host, for the reference.
  struct Both {
    std::vector<float> values;
    Tensor host, device;
    std::int64_t width() const { return host.shape[static_cast<std::size_t>(host.rank) - 1]; }
    Tensor host_rows(std::int64_t first, std::int64_t n) const {
      return host.slice(0, first, first + n);
    }
  };

  Both make(std::initializer_list<std::int64_t> shape, float size, bool operand) {
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

  bool wanted(const std::string& op) const {
    return settings_.only.empty() || op.find(settings_.only) != std::string::npos;
  }

  double time(const std::function<void()>& run) {
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

  // Compares rows [0, n) of what the backend wrote with the reference's.
  double error(const Tensor& device, const Tensor& expected) {
    std::vector<float> got(static_cast<std::size_t>(expected.size()));
    backend_.copy_out(got.data(), device.slice(0, 0, expected.shape[0]));
    backend_.synchronize();
    double squares = 0, worst = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
      const double want = expected.as<float>()[i];
      squares += want * want;
      worst = std::max(worst, std::fabs(got[i] - want));
    }
    return worst / std::sqrt(squares / static_cast<double>(got.size()));
  }

  void add(std::string op, std::string shape, double bytes, double operations, double its_error,
           const std::function<void()>& run) {
    OpTiming timing;
    timing.op = std::move(op);
    timing.shape = fmt::format("{}: {}", shape_.name, shape);
    timing.bytes = bytes;
    timing.operations = operations;
    timing.error = its_error;
    timing.seconds = time(run);
    results_.push_back(std::move(timing));
  }

  void run_shape() {
    const std::size_t bytes = static_cast<std::size_t>(n_tokens_) * 16 + (1u << 16);
    Arena arena(memory_.emplace_back(backend_.allocate(bytes)), bytes);
    HostBatch host;
    for (std::int64_t s = 0; s <= shape_.n_sequences; ++s)
      host.starts.push_back(static_cast<std::int32_t>(s * shape_.length));
    for (std::int64_t t = 0; t < n_tokens_; ++t) {
      host.ids.push_back(static_cast<std::int32_t>(t % 33));
      host.scale.push_back(0.88f);
    }
    const Batch batch = backend_.upload_batch(host, arena);
    run_rows(batch, host);
    run_products(batch);
    run_attention(batch, false);
    run_attention(batch, true);
    backend_.synchronize();
    for (void* const memory : memory_) backend_.release(memory);
    memory_.clear();
  }

  // The first rows of a batch for the reference.
  Batch host_batch(const HostBatch& whole, std::int64_t n_rows) {
    HostBatch part;
    part.ids.assign(whole.ids.begin(), whole.ids.begin() + n_rows);
    part.scale.assign(whole.scale.begin(), whole.scale.begin() + n_rows);
    part.starts = {0, static_cast<std::int32_t>(n_rows)};
    const std::size_t bytes = static_cast<std::size_t>(n_rows) * 16 + 4096;
    Arena arena(reference_->allocate(bytes), bytes);
    return reference_->upload_batch(part, arena);
  }

  void run_rows(const Batch& batch, const HostBatch& host) {
    const std::int64_t d = shape_.d, t = n_tokens_;
    const double wide = 4.0 * static_cast<double>(t * d);
    const auto operand =
        static_cast<double>(bytes_of(backend_.operand()) * static_cast<std::size_t>(t * d));
    const std::string shape = fmt::format("{} x {}", t, d);
    const Both weight = make({d}, 1, false), bias = make({d}, 1, false);
    const Norm norm{weight.device, bias.device, 1e-5f}, host_norm{weight.host, bias.host, 1e-5f};
    Both x = make({t, d}, 1, false), out = make({t, d}, 1, true), sum = make({t, d}, 1, false);
    std::vector<float> room(static_cast<std::size_t>(kRows * d));
    const Tensor expected(room.data(), DType::f32, {kRows, d});
    if (wanted("embed")) {
      const Both table = make({33, d}, 1, false);
      const Embed op{table.device, {}, norm, sum.device, {}, out.device};
      backend_.embed(op, batch);
      reference_->embed({table.host, {}, host_norm, {}, {}, expected}, host_batch(host, kRows));
      const double its_error = error(out.device, expected);
      add("embed + norm", shape, wide + operand, 8.0 * static_cast<double>(t * d), its_error,
          [&, op] { backend_.embed(op, batch); });
    }
    if (wanted("norm")) {
      const bool narrow = shape_.stream_of_operands;
      const Both stream = narrow ? make({t, d}, 1, true) : x;
      const AddLayerNorm op{stream.device, {}, norm, {}, {}, out.device};
      backend_.add_layer_norm(op);
      reference_->add_layer_norm({stream.host_rows(0, kRows), {}, host_norm, {}, {}, expected});
      const double its_error = error(out.device, expected);
      add("norm + cast", shape, (narrow ? operand : wide) + operand,
          8.0 * static_cast<double>(t * d), its_error, [&, op] { backend_.add_layer_norm(op); });
    }
    if (wanted("add + norm")) {
      const Both y = make({t, d}, 1, true);
      const AddLayerNorm op{x.device, y.device, norm, sum.device, {}, out.device};
      backend_.add_layer_norm(op);
      reference_->add_layer_norm(
          {x.host_rows(0, kRows), y.host_rows(0, kRows), host_norm, {}, {}, expected});
      const double its_error = error(out.device, expected);
      add("add + norm + cast", shape, 2 * wide + 2 * operand, 9.0 * static_cast<double>(t * d),
          its_error, [&, op] { backend_.add_layer_norm(op); });
    }
    if (wanted("mean")) {
      const Both means = make({shape_.n_sequences, d}, 1, false);
      backend_.mean_pool(means.device, x.device, batch);
      add("mean pool", shape, wide, static_cast<double>(t * d), 0,
          [&] { backend_.mean_pool(means.device, x.device, batch); });
    }
  }

  void run_products(const Batch& batch) {
    const std::int64_t d = shape_.d;
    run_product("gemm qkv + rotary", d, 3 * d, Activation::none, false, &batch);
    run_product("gemm + bias + residual", d, d, Activation::none, true, nullptr);
    run_product("gemm + bias + gelu", d, 4 * d, Activation::gelu_erf, false, nullptr);
    run_product("gemm + bias + residual", 4 * d, d, Activation::none, true, nullptr);
    run_product("gemm words", d, 33, Activation::none, false, nullptr);
  }

  void run_product(const char* name, std::int64_t n_in, std::int64_t n_out, Activation activation,
                   bool residual, const Batch* rotated) {
    if (!wanted(name)) return;
    const bool narrow = residual && shape_.stream_of_operands;
    const bool wide = (residual && !narrow) || n_out == 33;
    const Both x = make({n_tokens_, n_in}, 1, true);
    const Both weight = make({n_out, n_in}, 0.05f, true), bias = make({n_out}, 1, false);
    const Both out = make({n_tokens_, n_out}, 1, !wide);
    const Linear linear = backend_.upload_linear(weight.host, bias.host);
    const Linear host = reference_->upload_linear(weight.host, bias.host);
    const std::int64_t n_rows = 2;
    std::vector<float> room(static_cast<std::size_t>(n_rows * n_out));
    const Tensor expected(room.data(), DType::f32, {n_rows, n_out});
    std::function<void()> run;
    if (rotated != nullptr) {
      const std::int64_t h = shape_.d / shape_.n_heads;
      const Both angles = make({shape_.length, h}, 1, false);
      run = [=, this] {
        backend_.qkv_rotary({x.device, &linear, shape_.n_heads, {angles.device}, out.device},
                            *rotated);
      };
      Batch first;
      first.starts = {0, static_cast<std::int32_t>(n_rows)};
      std::vector<std::int32_t> positions{0, 1};
      first.positions = Tensor(positions.data(), DType::i32, {n_rows});
      reference_->qkv_rotary(
          {x.host_rows(0, n_rows), &host, shape_.n_heads, {angles.host}, expected}, first);
    } else {
      // The residual is another tensor than the sum, or repeated runs would add to it.
      const Both before = residual ? make({n_tokens_, n_out}, 1, narrow) : Both{};
      const Gemm op{x.device, &linear, activation, before.device, out.device};
      run = [=, this] {
        Gemm mine = op;
        mine.linear = &linear;
        backend_.gemm(mine);
      };
      reference_->gemm({x.host_rows(0, n_rows), &host, activation,
                        residual ? before.host_rows(0, n_rows) : Tensor(), expected});
    }
    run();
    const double its_error = error(out.device, expected);
    const auto operand = static_cast<double>(bytes_of(backend_.operand()));
    const auto m = static_cast<double>(n_tokens_), n = static_cast<double>(n_out),
               k = static_cast<double>(n_in);
    add(name, fmt::format("{} x {} x {}", n_tokens_, n_out, n_in),
        operand * (m * k + n * k) + (wide ? 4 : operand) * m * n * (residual ? 2 : 1),
        2 * m * n * k, its_error, run);
    backend_.synchronize();
    reference_ = make_reference_backend();
  }

  void run_attention(const Batch& batch, bool with_bias) {
    const char* const name = with_bias ? "attention + bias" : "attention";
    if (!wanted(name) || (with_bias && shape_.d > 1280)) return;
    const std::int64_t d = shape_.d, n_heads = shape_.n_heads, h = d / n_heads, n = shape_.length;
    const Both qkv = make({n_tokens_, 3 * d}, 1, true), out = make({n_tokens_, d}, 1, true);
    const Both bias = with_bias ? make({1, n_heads, n, n}, 1, true) : Both{};
    const auto part = [&](const Tensor& all, std::int64_t i, std::int64_t heads) {
      Tensor x = all.slice(1, i * d, i * d + heads * h);
      x.rank = 3;
      x.shape = {all.shape[0], heads, h};
      x.stride = {all.stride[0], h, 1};
      return x;
    };
    const float scale = 1 / std::sqrt(static_cast<float>(h));
    const Attention op{part(qkv.device, 0, n_heads),
                       part(qkv.device, 1, n_heads),
                       part(qkv.device, 2, n_heads),
                       scale,
                       bias.device,
                       out.device,
                       {}};
    backend_.attention(op, batch);
    // The reference computes the first head of the first sequence.
    Batch first;
    first.n_sequences = 1;
    first.max_length = n;
    first.starts = {0, static_cast<std::int32_t>(n)};
    std::vector<float> room(static_cast<std::size_t>(n * h));
    const Tensor expected(room.data(), DType::f32, {n, h});
    reference_->attention({part(qkv.host, 0, 1),
                           part(qkv.host, 1, 1),
                           part(qkv.host, 2, 1),
                           scale,
                           with_bias ? bias.host.slice(1, 0, 1) : Tensor(),
                           expected,
                           {}},
                          first);
    const double its_error = error(out.device.slice(1, 0, h), expected);
    const auto operand = static_cast<double>(bytes_of(backend_.operand()));
    const auto pairs = static_cast<double>(shape_.n_sequences * n * n * n_heads);
    add(name, fmt::format("{} x {}, {} heads of {}", shape_.n_sequences, n, n_heads, h),
        operand * 4 * static_cast<double>(n_tokens_ * d) + (with_bias ? operand * pairs : 0),
        4 * pairs * static_cast<double>(h), its_error, [&, op] { backend_.attention(op, batch); });
  }

  static constexpr std::int64_t kRows = 16;  // that the reference computes of row operations

  Backend& backend_;
  const OpBenchSettings settings_;
  std::unique_ptr<Backend> reference_;
  Random random_;
  Shape shape_{};
  std::int64_t n_tokens_ = 0;
  std::vector<void*> memory_;
  std::vector<OpTiming> results_;
};

}  // namespace

Roofline roofline_of(const std::string& device_name, Precision precision) {
  Roofline roofline;
  if (device_name.find("H200") != std::string::npos) {
    roofline = {790e12, 4.3e12};
  } else if (device_name.find("H100") != std::string::npos) {
    roofline = {790e12, 3.0e12};
  } else if (device_name.find("A100") != std::string::npos) {
    roofline = {280e12, 1.7e12};
  }
  // fp32 operands are multiplied as three products of 16-bit numbers.
  if (operand_type(precision) == DType::f32) roofline.operations_per_s /= 3;
  return roofline;
}

double OpTiming::share(const Roofline& roofline) const {
  if (roofline.operations_per_s == 0 || roofline.bytes_per_s == 0 || seconds == 0) return 0;
  return std::max(operations / roofline.operations_per_s, bytes / roofline.bytes_per_s) / seconds;
}

std::vector<OpTiming> run_op_bench(Backend& backend, const OpBenchSettings& settings) {
  return OpBench(backend, settings).all();
}

}  // namespace biogpu::nn
