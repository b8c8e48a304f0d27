// The operations of lib/nn/backend.hpp on one GPU: each queues one kernel of gpu/nn, or a product
// of the vendor's library with a kernel behind it.
#include "lib/nn/backend_gpu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "gpu/nn/contacts.hpp"
#include "gpu/nn/layer_norm.hpp"
#include "gpu/nn/program.hpp"
#include "gpu/nn/row_ops.hpp"
#include "gpu/rt/device.hpp"
#include "gpu/rt/graph.hpp"
#include "lib/core/errors_gpu.hpp"
#include "lib/nn/device_gpu.hpp"

namespace biogpu::nn {
namespace {

namespace device_nn = gpu::nn;

// Passes over no more tokens may run as a program, on request: docs/design/infer_gpu.md tells why.
constexpr std::int64_t kProgramTokens = 512;
constexpr std::size_t kMaxCaptured = 256;

// A pass that came before: a program or a graph from its second time on.
struct Captured {
  bool ran = false;
  gpu::Graph graph;
  std::unique_ptr<device_nn::Program> program;
};

class DeviceBackend final : public Backend {
 public:
  DeviceBackend(int device, const BackendOptions& options)
      : device_(select(device)),
        options_(options),
        stream_(std::make_unique<gpu::Stream>()),
        products_(options.precision, *stream_) {}

  ~DeviceBackend() override {
    stream_->synchronize();
    captured_.clear();
    for (const auto& [memory, bytes] : allocated_) gpu::free_device(memory);
  }

  std::string name() const override { return fmt::format("gpu:{}", device_); }
  Precision precision() const override { return options_.precision; }

  void* allocate(std::size_t bytes) override {
    return with_device_errors([&] {
      gpu::set_device(device_);
      void* const memory = gpu::allocate_device(std::max<std::size_t>(bytes, 1));
      allocated_.emplace(memory, bytes);
      allocated_bytes_ += bytes;
      return memory;
    });
  }

  void release(void* memory) override {
    const auto found = allocated_.find(memory);
    if (found == allocated_.end()) return;
    stream_->synchronize();
    captured_.clear();  // what was recorded may point there
    allocated_bytes_ -= found->second;
    allocated_.erase(found);
    gpu::free_device(memory);
  }

  std::uint64_t free_bytes() override {
    return with_device_errors([&] {
      gpu::set_device(device_);
      const std::uint64_t free = gpu::memory_info().free_bytes;
      const std::uint64_t limit = options_.max_device_bytes;
      if (limit == 0) return free;
      return std::min(free, limit - std::min(limit, allocated_bytes_));
    });
  }

  Tensor upload(const Tensor& host, DType as) override {
    return with_device_errors([&] {
      Tensor copy = host;
      copy.dtype = as;
      copy.data = allocate(copy.bytes());
      if (as == DType::f32) {
        staging_.to_device(copy.data, host.data, host.bytes(), *stream_);
      } else {
        const std::int64_t width = host.shape[static_cast<std::size_t>(host.rank) - 1];
        cast_rows(host.as<float>(), host.size() / width, width, [&](const auto& rows, auto first) {
          device_nn::Rows to{copy.data, width, element_of(as)};
          to.data = static_cast<std::uint16_t*>(copy.data) + first * width;
          device_nn::launch_copy_rows(to, rows.second, nullptr, rows.first, static_cast<int>(width),
                                      *stream_);
        });
      }
      return copy;
    });
  }

  Linear upload_linear(const Tensor& weight, const Tensor& bias) override {
    return with_device_errors([&] {
      const bool split = operand() == DType::f32;
      auto packed = std::make_unique<DeviceLinear>();
      Linear linear;
      linear.n_out = weight.shape[0];
      linear.n_in = weight.shape[1];
      if (linear.n_in % 8 != 0)
        throw Error(ErrorCode::failed, fmt::format("a matrix of {} columns; GPUs take multiples "
                                                   "of 8",
                                                   linear.n_in));
      packed->k = split ? 3 * linear.n_in : linear.n_in;
      packed->weight = static_cast<std::uint16_t*>(
          allocate(static_cast<std::size_t>(linear.n_out * packed->k) * sizeof(std::uint16_t)));
      cast_rows(weight.as<float>(), linear.n_out, linear.n_in,
                [&](const auto& rows, std::int64_t first) {
                  std::uint16_t* const to = packed->weight + first * packed->k;
                  const int width = static_cast<int>(linear.n_in);
                  if (split) {
                    device_nn::launch_split_rows(to, rows.second, device_nn::SplitSide::b,
                                                 rows.first, width, *stream_);
                  } else {
                    device_nn::launch_copy_rows({to, linear.n_in, element_of(operand())},
                                                rows.second, nullptr, rows.first, width, *stream_);
                  }
                });
      if (!bias.empty()) {
        linear.bias = upload(bias, DType::f32);
        packed->bias = linear.bias.as<float>();
        if (!split) packed->bias16 = upload(bias, operand()).as<std::uint16_t>();
      }
      linear.packed = packed.get();
      linears_.push_back(std::move(packed));
      return linear;
    });
  }

  Batch upload_batch(const HostBatch& host, Arena& arena) override {
    return with_device_errors([&] {
      gpu::set_device(device_);
      Batch batch;
      auto plan = std::make_shared<BatchPlan>();
      batch.n_tokens = static_cast<std::int64_t>(host.ids.size());
      batch.n_sequences = static_cast<std::int64_t>(host.starts.size()) - 1;
      batch.starts = host.starts;
      std::vector<std::int32_t> positions(host.ids.size());
      std::int64_t first_score = 0;
      for (std::size_t s = 0; s + 1 < host.starts.size(); ++s) {
        const std::int32_t length = host.starts[s + 1] - host.starts[s];
        plan->first_score.push_back(first_score);
        const std::int64_t n = std::max(0, length - 2);
        first_score += n * n;
        batch.max_length = std::max<std::int64_t>(batch.max_length, length);
        for (std::int32_t t = 0; t < length; ++t)
          positions[static_cast<std::size_t>(host.starts[s] + t)] = t;
      }
      plan->tiles = device_nn::query_tiles(host.starts);
      plan->starts = host.starts;
      plan->max_length = batch.max_length;
      // What depends on the number of tokens comes first: the same places for the same number.
      batch.ids = arena.take(DType::i32, {batch.n_tokens});
      batch.positions = arena.take(DType::i32, {batch.n_tokens});
      if (!host.scale.empty()) batch.scale = arena.take(DType::f32, {batch.n_tokens});
      batch.device_starts = arena.take(DType::i32, {batch.n_sequences + 1});
      copy_in(batch.ids, host.ids.data());
      copy_in(batch.positions, positions.data());
      copy_in(batch.device_starts, host.starts.data());
      if (!host.scale.empty()) copy_in(batch.scale, host.scale.data());
      batch.plan = plan;
      load_plan(batch);
      return batch;
    });
  }

  void copy_in(const Tensor& to, const void* host) override {
    with_device_errors([&] { staging_.to_device(to.data, host, to.bytes(), *stream_); });
  }

  // Rows are brought together as f32 in device memory, and then through pinned memory to the host
  // when synchronize() is called.
  void copy_out(float* host, const Tensor& from) override {
    with_device_errors([&] {
      const std::int64_t n_rows = from.shape[0],
                         width = from.size() / std::max<std::int64_t>(1, n_rows);
      if (n_rows == 0) return;
      const void* source = from.data;
      if (from.dtype != DType::f32 || from.stride[0] != width) {
        results_.emplace_back(static_cast<std::size_t>(from.size()));
        device_nn::launch_copy_rows({results_.back().data(), width, device_nn::Element::f32},
                                    rows_of(from), nullptr, n_rows, static_cast<int>(width),
                                    *stream_);
        source = results_.back().data();
      }
      stream_->copy_to_host(host, source, static_cast<std::size_t>(from.size()) * sizeof(float));
    });
  }

  void synchronize() override {
    with_device_errors([&] {
      gpu::set_device(device_);
      stream_->synchronize();
      results_.clear();
    });
  }

  void run_captured(std::uint64_t key, const std::function<void()>& body) override {
    with_device_errors([&] {
      if (captured_.size() > kMaxCaptured) captured_.clear();
      Captured& captured = captured_[key];
      // The first run makes room that a recorded one must find; the second records.
      if (captured.ran && captured.graph.empty() && captured.program == nullptr)
        record(captured, body);
      started_.record(*stream_);
      if (captured.program != nullptr) {
        captured.program->run(*stream_);
      } else if (!captured.graph.empty()) {
        captured.graph.launch(*stream_);
      } else {
        body();
      }
      stopped_.record(*stream_);
      // A run that had to make more room moved what earlier recordings point to.
      if (room_moved()) captured_.clear();
      captured_[key].ran = true;
    });
  }

  double captured_seconds() override {
    return with_device_errors([&] {
      stopped_.synchronize();
      return stopped_.seconds_since(started_);
    });
  }

  void embed(const Embed& op, const Batch& batch) override {
    device_nn::LayerNormArgs args;
    args.n_rows = batch.n_tokens;
    args.d = static_cast<int>(op.table.shape[1]);
    args.x = rows_of(op.table);
    args.ids = batch.ids.as<std::int32_t>();
    args.scale = batch.scale.as<float>();
    args.position_table = rows_of(op.position_table);
    args.positions = batch.positions.as<std::int32_t>();
    normalise(args, op.norm, op.sum, op.out, op.out_operand);
  }

  void add_layer_norm(const AddLayerNorm& op) override {
    device_nn::LayerNormArgs args;
    args.n_rows = op.x.shape[0];
    args.d = static_cast<int>(op.x.shape[1]);
    args.x = rows_of(op.x);
    args.add = rows_of(op.add);
    normalise(args, op.norm, op.sum, op.out, op.out_operand);
  }

  void gemm(const Gemm& op) override {
    with_device_errors([&] {
      device_nn::GemmEpilogue epilogue;
      epilogue.gelu = op.activation == Activation::gelu_erf;
      epilogue.residual = rows_of(op.residual);
      multiply(op.x, *op.linear, epilogue, op.out);
    });
  }

  void qkv_rotary(const QkvRotary& op, const Batch& batch) override {
    with_device_errors([&] {
      device_nn::GemmEpilogue epilogue;
      const int head = static_cast<int>(op.linear->n_out / 3 / op.n_heads);
      const int n_rotated = static_cast<int>(op.linear->n_out / 3 * 2);
      const bool rotates = !op.rotary.cos_sin.empty();
      if (rotates && device_nn::can_rotate_in_gemm(head)) {
        epilogue.cos_sin = op.rotary.cos_sin.as<float>();
        epilogue.positions = batch.positions.as<std::int32_t>();
        epilogue.head = head;
        epilogue.n_rotated = n_rotated;
      }
      multiply(op.x, *op.linear, epilogue, op.qkv);
      if (!rotates || device_nn::can_rotate_in_gemm(head)) return;
      if (recording_ != nullptr) {
        recorded_all_ = false;
      } else {
        device_nn::launch_rotary(rows_of(op.qkv), op.rotary.cos_sin.as<float>(),
                                 batch.positions.as<std::int32_t>(), head, n_rotated,
                                 op.qkv.shape[0], *stream_);
      }
    });
  }

  void attention(const Attention& op, const Batch& batch) override {
    with_device_errors([&] {
      load_plan(batch);
      device_nn::AttentionArgs args;
      args.q = rows_of(op.q);
      args.k = rows_of(op.k);
      args.v = rows_of(op.v);
      args.head_stride = op.q.stride[1];
      args.n_heads = static_cast<int>(op.q.shape[1]);
      args.head = static_cast<int>(op.q.shape[2]);
      args.scale = op.scale;
      args.out = rows_of(op.out);
      if (!op.bias.empty()) {
        args.bias = {op.bias.data, 1, element_of(op.bias.dtype)};
        for (std::size_t axis = 0; axis < 3; ++axis)
          if (op.bias.shape[axis] > 1) args.bias_stride[axis] = op.bias.stride[axis];
      }
      if (!op.log_sum_exp.empty()) {
        args.log_sum_exp = op.log_sum_exp.as<float>();
        args.log_sum_exp_stride = op.log_sum_exp.stride[0];
      }
      args.tiles = plan_.tiles();
      args.n_tiles = plan_.n_tiles();
      if (recording_ != nullptr) {
        recorded_all_ = recorded_all_ && recording_->add_attention(args, batch.max_length) &&
                        args.log_sum_exp == nullptr;
      } else {
        device_nn::launch_attention(args, *stream_);
      }
    });
  }

  void accumulate_contacts(const Contacts& op, const Batch& batch) override {
    if (not_in_program()) return;
    with_device_errors([&] {
      load_plan(batch);
      device_nn::ContactArgs args;
      args.q = rows_of(op.q);
      args.k = rows_of(op.k);
      args.head_stride = op.q.stride[1];
      args.n_heads = static_cast<int>(op.q.shape[1]);
      args.head = static_cast<int>(op.q.shape[2]);
      args.scale = op.scale;
      args.log_sum_exp = op.log_sum_exp.as<float>();
      args.log_sum_exp_stride = op.log_sum_exp.stride[0];
      args.weight = op.weight.as<float>();
      args.scores = op.scores.as<float>();
      args.row_sums = op.row_sums.row<float>(op.first_channel);
      args.row_sums_stride = op.row_sums.stride[0];
      args.starts = plan_.starts();
      args.first_score = plan_.first_score();
      args.n_sequences = batch.n_sequences;
      args.max_length = batch.max_length;
      device_nn::launch_accumulate_contacts(args, *stream_);
    });
  }

  void finish_contacts(const FinishContacts& op, const Batch& batch) override {
    if (not_in_program()) return;
    with_device_errors([&] {
      load_plan(batch);
      device_nn::FinishContactArgs args;
      args.scores = op.scores.as<float>();
      args.row_sums = op.row_sums.as<float>();
      args.row_sums_stride = op.row_sums.stride[0];
      args.weight = op.weight.as<float>();
      args.n_channels = static_cast<int>(op.row_sums.shape[0]);
      args.bias = op.bias;
      const auto n_shares = static_cast<std::size_t>(batch.n_sequences * args.n_channels);
      if (shares_.size() < n_shares) {
        stream_->synchronize();
        shares_.reserve(n_shares);
      }
      args.share = shares_.data();
      args.starts = plan_.starts();
      args.first_score = plan_.first_score();
      args.n_sequences = batch.n_sequences;
      args.max_length = batch.max_length;
      device_nn::launch_finish_contacts(args, *stream_);
    });
  }

  void clear(const Tensor& tensor) override {
    if (not_in_program()) return;
    with_device_errors([&] { stream_->fill(tensor.data, 0, tensor.bytes()); });
  }

  void gather_rows(const Tensor& to, const Tensor& from, const Tensor& rows) override {
    with_device_errors([&] {
      if (recording_ != nullptr) {
        device_nn::LayerNormArgs args;
        args.n_rows = to.shape[0];
        args.d = static_cast<int>(to.shape[1]);
        args.x = rows_of(from);
        args.ids = rows.as<std::int32_t>();
        args.sum = rows_of(to);
        recorded_all_ = recorded_all_ && recording_->add_rows(args);
        return;
      }
      device_nn::launch_copy_rows(rows_of(to), rows_of(from), rows.as<std::int32_t>(), to.shape[0],
                                  static_cast<int>(to.shape[1]), *stream_);
    });
  }

  void log_softmax(const Tensor& x) override {
    if (not_in_program()) return;
    with_device_errors([&] {
      device_nn::launch_log_softmax(rows_of(x), x.shape[0], static_cast<int>(x.shape[1]), *stream_);
    });
  }

  void tanh(const Tensor& x) override {
    if (not_in_program()) return;
    with_device_errors([&] { device_nn::launch_tanh(x.as<float>(), x.size(), *stream_); });
  }

  void mean_pool(const Tensor& out, const Tensor& x, const Batch& batch) override {
    if (not_in_program()) return;
    with_device_errors([&] {
      load_plan(batch);
      device_nn::launch_mean_pool(rows_of(out), rows_of(x), plan_.starts(), batch.n_sequences,
                                  static_cast<int>(x.shape[1]), *stream_);
    });
  }

 private:
  static int select(int device) {
    with_device_errors([&] { gpu::set_device(device); });
    return device;
  }

  void load_plan(const Batch& batch) {
    plan_.load(std::static_pointer_cast<BatchPlan>(batch.plan), staging_, *stream_);
  }

  void normalise(device_nn::LayerNormArgs& args, const Norm& norm, const Tensor& sum,
                 const Tensor& out, const Tensor& out_operand) {
    if (args.d > device_nn::kLayerNormWidth)
      throw Error(ErrorCode::failed,
                  fmt::format("a model of width {}; this build's GPU kernels go up to {}", args.d,
                              device_nn::kLayerNormWidth));
    args.weight = norm.weight.as<float>();
    args.bias = norm.bias.as<float>();
    args.eps = norm.eps;
    args.sum = rows_of(sum);
    args.out = rows_of(out);
    args.out_operand = rows_of(out_operand);
    with_device_errors([&] {
      if (recording_ != nullptr) {
        recorded_all_ = recorded_all_ && recording_->add_rows(args);
      } else {
        device_nn::launch_layer_norm(args, *stream_);
      }
    });
  }

  void multiply(const Tensor& x, const Linear& linear, const device_nn::GemmEpilogue& epilogue,
                const Tensor& out) {
    if (recording_ == nullptr)
      return products_.multiply(rows_of(x), x.shape[0], linear, epilogue, rows_of(out));
    recorded_all_ = recorded_all_ && recording_->add_product(ProductEngine::args_of(
                                         rows_of(x), x.shape[0], linear, epilogue, rows_of(out)));
  }

  // True, and the program given up, while one is recorded: the operation has no place in one.
  bool not_in_program() {
    if (recording_ != nullptr) recorded_all_ = false;
    return recording_ != nullptr;
  }

  void record(Captured& captured, const std::function<void()>& body) {
    const bool small = plan_.loaded() != nullptr && plan_.loaded()->starts.back() <= kProgramTokens;
    if (small && operand() != DType::f32 && std::getenv("BIOGPU_PROGRAM") != nullptr) {
      auto program = std::make_unique<device_nn::Program>(products_.type());
      recording_ = program.get();
      recorded_all_ = true;
      body();
      recording_ = nullptr;
      const std::size_t shared = gpu::device_properties(device_).shared_bytes_per_block;
      if (recorded_all_ && program->finish(shared, *stream_)) {
        captured.program = std::move(program);
        return;
      }
    }
    captured.graph = gpu::Graph::record(*stream_, body);
  }

  bool room_moved() {
    const void* const now[] = {plan_.tiles(), plan_.starts(), plan_.first_score(), shares_.data(),
                               products_.split_room()};
    const bool moved = !std::equal(std::begin(now), std::end(now), std::begin(room_));
    std::copy(std::begin(now), std::end(now), std::begin(room_));
    return moved;
  }

  // Brings f32 rows to the device in pieces and hands each to cast((n, rows), first row).
  template <class Cast>
  void cast_rows(const float* host, std::int64_t n_rows, std::int64_t width, Cast&& cast) {
    const std::int64_t at_once = std::max<std::int64_t>(
        1, static_cast<std::int64_t>(Staging::kBytes / sizeof(float)) / width);
    gpu::DeviceBuffer<float> piece(static_cast<std::size_t>(std::min(n_rows, at_once) * width));
    for (std::int64_t first = 0; first < n_rows; first += at_once) {
      const std::int64_t n = std::min(at_once, n_rows - first);
      staging_.to_device(piece.data(), host + first * width,
                         static_cast<std::size_t>(n * width) * sizeof(float), *stream_);
      cast(std::pair(n, device_nn::Rows{piece.data(), width, device_nn::Element::f32}), first);
    }
    stream_->synchronize();  // the piece goes
  }

  const int device_;
  const BackendOptions options_;
  std::unique_ptr<gpu::Stream> stream_;
  ProductEngine products_;
  Staging staging_;
  DevicePlan plan_;
  std::unordered_map<void*, std::size_t> allocated_;
  std::uint64_t allocated_bytes_ = 0;
  std::vector<std::unique_ptr<DeviceLinear>> linears_;
  std::vector<gpu::DeviceBuffer<float>> results_;  // until synchronize()
  gpu::DeviceBuffer<float> shares_;
  std::unordered_map<std::uint64_t, Captured> captured_;
  device_nn::Program* recording_ = nullptr;  // takes the operations in place of the device
  bool recorded_all_ = false;
  const void* room_[5] = {};
  gpu::Event started_, stopped_;
};

}  // namespace

std::unique_ptr<Backend> make_gpu_backend_of_device(int device, const BackendOptions& options) {
  return with_device_errors([&]() -> std::unique_ptr<Backend> {
    return std::make_unique<DeviceBackend>(device, options);
  });
}

}  // namespace biogpu::nn
