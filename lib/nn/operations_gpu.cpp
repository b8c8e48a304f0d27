// The operations of a forward pass, as launches of gpu/nn.
#include <fmt/format.h>

#include "gpu/nn/attention.hpp"
#include "gpu/nn/contacts.hpp"
#include "gpu/nn/row_ops.hpp"
#include "lib/core/errors_gpu.hpp"
#include "lib/nn/device_backend_gpu.hpp"

namespace biogpu::nn {

namespace device_nn = gpu::nn;

namespace {

// What attention and the contacts of its probabilities have in common.
template <class Args, class Op>
Args heads_of(const Op& op) {
  Args args;
  args.q = rows_of(op.q);
  args.k = rows_of(op.k);
  args.head_stride = op.q.stride[1];
  args.n_heads = static_cast<int>(op.q.shape[1]);
  args.head = static_cast<int>(op.q.shape[2]);
  args.scale = op.scale;
  args.log_sum_exp = op.log_sum_exp.template as<float>();
  args.log_sum_exp_stride = op.log_sum_exp.stride[0];
  return args;
}

// Where the contacts of the batch's sequences lie.
template <class Args>
void set_sequences(Args& args, const Batch& batch, const DevicePlan& plan) {
  args.starts = plan.starts();
  args.first_score = plan.first_score();
  args.n_sequences = batch.n_sequences;
  args.max_length = batch.max_length;
}

}  // namespace

void DeviceBackend::normalise(device_nn::LayerNormArgs& args, const Norm& norm, const Tensor& sum,
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
  with_device_errors([&] { device_nn::launch_layer_norm(args, stream_); });
}

void DeviceBackend::embed(const Embed& op, const Batch& batch) {
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

void DeviceBackend::add_layer_norm(const AddLayerNorm& op) {
  device_nn::LayerNormArgs args;
  args.n_rows = op.x.shape[0];
  args.d = static_cast<int>(op.x.shape[1]);
  args.x = rows_of(op.x);
  args.add = rows_of(op.add);
  normalise(args, op.norm, op.sum, op.out, op.out_operand);
}

void DeviceBackend::gemm(const Gemm& op) {
  with_device_errors([&] {
    device_nn::GemmEpilogue epilogue;
    epilogue.gelu = op.activation == Activation::gelu_erf;
    epilogue.residual = rows_of(op.residual);
    products_.multiply(rows_of(op.x), op.x.shape[0], *op.linear, epilogue, rows_of(op.out));
  });
}

void DeviceBackend::qkv_rotary(const QkvRotary& op, const Batch& batch) {
  with_device_errors([&] {
    device_nn::GemmEpilogue epilogue;
    const int head = static_cast<int>(op.linear->n_out / 3 / op.n_heads);
    const int n_rotated = static_cast<int>(op.linear->n_out / 3 * 2);
    const std::int64_t n_rows = op.x.shape[0];
    const auto* const cos_sin = op.rotary.cos_sin.as<float>();
    const auto* const positions = batch.positions.as<std::int32_t>();
    const bool rotates = !op.rotary.cos_sin.empty();
    const bool rotates_in_gemm = rotates && device_nn::can_rotate_in_gemm(head);
    if (rotates_in_gemm) {
      epilogue.cos_sin = cos_sin;
      epilogue.positions = positions;
      epilogue.head = head;
      epilogue.n_rotated = n_rotated;
    }
    products_.multiply(rows_of(op.x), n_rows, *op.linear, epilogue, rows_of(op.qkv));
    if (rotates && !rotates_in_gemm)
      device_nn::launch_rotary(rows_of(op.qkv), cos_sin, positions, head, n_rotated, n_rows,
                               stream_);
  });
}

void DeviceBackend::attention(const Attention& op, const Batch& batch) {
  with_device_errors([&] {
    load_plan(batch);
    auto args = heads_of<device_nn::AttentionArgs>(op);
    args.v = rows_of(op.v);
    args.n_rows = op.q.shape[0];
    args.out = rows_of(op.out);
    if (!op.bias.empty()) {
      args.bias = {op.bias.data, 1, element_of(op.bias.dtype)};
      for (std::size_t axis = 0; axis < 3; ++axis)
        if (op.bias.shape[axis] > 1) args.bias_stride[axis] = op.bias.stride[axis];
    }
    args.tiles = plan_.tiles();
    args.n_tiles = plan_.n_tiles();
    device_nn::launch_attention(args, stream_);
  });
}

void DeviceBackend::accumulate_contacts(const Contacts& op, const Batch& batch) {
  with_device_errors([&] {
    load_plan(batch);
    auto args = heads_of<device_nn::ContactArgs>(op);
    args.weight = op.weight.as<float>();
    args.scores = op.scores.as<float>();
    args.row_sums = op.row_sums.row<float>(op.first_channel);
    args.row_sums_stride = op.row_sums.stride[0];
    set_sequences(args, batch, plan_);
    device_nn::launch_accumulate_contacts(args, stream_);
  });
}

void DeviceBackend::finish_contacts(const FinishContacts& op, const Batch& batch) {
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
      stream_.synchronize();
      shares_.reserve(n_shares);
    }
    args.share = shares_.data();
    set_sequences(args, batch, plan_);
    device_nn::launch_finish_contacts(args, stream_);
  });
}

void DeviceBackend::clear(const Tensor& tensor) {
  with_device_errors([&] { stream_.fill(tensor.data, 0, tensor.bytes()); });
}

void DeviceBackend::gather_rows(const Tensor& to, const Tensor& from, const Tensor& rows) {
  with_device_errors([&] {
    device_nn::launch_copy_rows(rows_of(to), rows_of(from), rows.as<std::int32_t>(), to.shape[0],
                                static_cast<int>(to.shape[1]), stream_);
  });
}

void DeviceBackend::log_softmax(const Tensor& x) {
  with_device_errors([&] {
    device_nn::launch_log_softmax(rows_of(x), x.shape[0], static_cast<int>(x.shape[1]), stream_);
  });
}

void DeviceBackend::tanh(const Tensor& x) {
  with_device_errors([&] { device_nn::launch_tanh(x.as<float>(), x.size(), stream_); });
}

void DeviceBackend::mean_pool(const Tensor& out, const Tensor& x, const Batch& batch) {
  with_device_errors([&] {
    load_plan(batch);
    device_nn::launch_mean_pool(rows_of(out), rows_of(x), plan_.starts(), batch.n_sequences,
                                static_cast<int>(x.shape[1]), stream_);
  });
}

}  // namespace biogpu::nn
