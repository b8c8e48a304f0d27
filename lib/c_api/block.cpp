#include "lib/c_api/block.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lib/c_api/block_arrays.hpp"
#include "lib/c_api/block_device.hpp"
#include "lib/c_api/block_kinds.hpp"
#include "lib/c_api/block_run.hpp"
#include "lib/c_api/calls.hpp"
#include "lib/core/error.hpp"
#include "lib/models/structure/block_parts.hpp"
#include "lib/ops/attention/dot_product_attention.hpp"
#include "lib/ops/elementwise/map.hpp"
#include "lib/tensor/views.hpp"
#include "lib/tensor/weights/safetensors.hpp"
#include "lib/tensor/weights/weight_table.hpp"

namespace biogpu::c_api {
namespace {

using models::BlockContext;
using tensor::Context;
using tensor::DType;
using tensor::permuted;
using tensor::Tensor;

constexpr char kBlockPrecisions[] = "auto, fp32, fp64, tf32, bf16, fp16";

// The arrays of a call of attention, each with an axis of batches.
struct AttentionArrays {
  Tensor q, k, v, bias, mask, out;
  float scale = 0;
};

AttentionArrays arrays_of(BlockDevice& device, const biogpu_block_attention_call& call) {
  const auto take = [&](const biogpu_block_tensor& array, const char* name) {
    const Tensor x = tensor_of(array, name, device.operand());
    return x.rank == 4 ? tensor::repeated(x, 0) : x;
  };
  AttentionArrays arrays{take(call.q, "q"),       take(call.k, "k"),       take(call.v, "v"),
                         take(call.bias, "bias"), take(call.mask, "mask"), take(call.out, "out")};
  require_shape(arrays.q, "q", {-1, -1, -1, -1, -1});
  const auto& [b, n, h, queries, d] = arrays.q.shape;
  require_shape(arrays.k, "k", {b, n, h, -1, d});
  const std::int64_t keys = arrays.k.shape[3];
  require_shape(arrays.v, "v", {b, n, h, keys, d});
  require_result(arrays.out, "out");
  require_shape(arrays.out, "out", {b, n, h, queries, d});
  if (!arrays.bias.empty()) require_shape(arrays.bias, "bias", {b, 1, h, queries, keys});
  if (!arrays.mask.empty()) require_shape(arrays.mask, "mask", {b, n, 1, 1, keys});
  for (const Tensor* const x : {&arrays.q, &arrays.k, &arrays.v, &arrays.bias})
    require(x->dtype != DType::u8, "u8 in q, k, v or bias; expected floating-point numbers");
  require(arrays.mask.dtype == DType::f32 || arrays.mask.dtype == DType::u8,
          "mask: expected f32 or u8");
  require((keys > 0 && d > 0) || arrays.q.size() == 0, "k: no keys, or heads of no numbers");
  require(!device.on_gpu() || d <= kMaxGpuHead, "q: heads of more than 192 numbers on a GPU");
  require(std::isfinite(call.scale), "scale: not a finite number");
  arrays.scale =
      call.scale != 0 ? call.scale : static_cast<float>(1 / std::sqrt(static_cast<double>(d)));
  return arrays;
}

void attend(const BlockContext& run, const AttentionArrays& arrays) {
  // [N, H, Q, D] as [N, Q, H, D]
  const auto rows = [](const Tensor& x, std::int64_t b) {
    return permuted(item_of(x, b), {0, 2, 1, 3});
  };
  for (std::int64_t b = 0; b < arrays.q.shape[0]; ++b) {
    const auto scope = run.arena.scope();
    const Tensor out = rows(arrays.out, b);
    ops::DotProductAttention op;
    op.q = operands_of(run, rows(arrays.q, b));
    op.k = operands_of(run, rows(arrays.k, b));
    op.v = operands_of(run, rows(arrays.v, b));
    op.scale = arrays.scale;
    if (!arrays.bias.empty()) op.bias = item_of(arrays.bias, b);
    if (!arrays.mask.empty()) {
      const Tensor mask = permuted(item_of(arrays.mask, b), {1, 2, 0, 3});  // [1, 1, N, K]
      op.key_mask = item_of(item_of(mask, 0), 0);
    }
    op.masked_value = models::kMaskedLogit;
    const bool is_direct = out.dtype == op.q.dtype;
    op.out = is_direct ? out
                       : run.arena.take(op.q.dtype,
                                        {out.shape[0], out.shape[1], out.shape[2], out.shape[3]});
    ops::dot_product_attention(run.context, op);
    if (!is_direct) ops::map(run.context, ops::map_copy(op.out, out));
  }
}

tensor::Checkpoint checkpoint_of(const biogpu_block_weight* weights, int n_weights) {
  std::map<std::string, tensor::StoredTensor> tensors;
  for (int i = 0; i < n_weights; ++i) {
    require(weights[i].name != nullptr, "a weight without a name");
    const char* const name = weights[i].name;
    biogpu_block_tensor array = weights[i].tensor;
    std::fill(std::begin(array.stride), std::end(array.stride), 0);  // which may be anything
    const Tensor x = tensor_of(array, name,
                               array.type == BIOGPU_BLOCK_F16    ? DType::f16
                               : array.type == BIOGPU_BLOCK_BF16 ? DType::bf16
                                                                 : DType::f32);
    if (x.empty() || x.dtype == DType::u8 || (x.data == nullptr && x.size() > 0))
      throw Error(ErrorCode::usage, fmt::format("{}: no floating-point numbers", name));
    tensor::StoredTensor stored;
    stored.type = x.dtype == DType::f32 ? "F32" : x.dtype == DType::f16 ? "F16" : "BF16";
    stored.shape.assign(x.shape.begin(), x.shape.begin() + x.rank);
    stored.data = x.as<const std::uint8_t>();
    stored.bytes = x.bytes();
    if (!tensors.emplace(std::string(kBlock) + "." + name, std::move(stored)).second)
      throw Error(ErrorCode::usage, fmt::format("{}: given twice", name));
  }
  return tensor::Checkpoint::in_memory("weights", std::move(tensors));
}

// A call that passes all checks but those of memory: what it computes.
BlockDevice::Body attention_of(BlockDevice& device, const biogpu_block_attention_call& call) {
  const AttentionArrays arrays = arrays_of(device, call);
  if (arrays.q.size() == 0) return [](const BlockContext&) {};
  return [arrays](const BlockContext& run) { attend(run, arrays); };
}

void require_data(const std::vector<const biogpu_block_tensor*>& arrays) {
  for (const biogpu_block_tensor* const array : arrays) {
    bool has_numbers = array->n_axes > 0;
    for (int i = 0; i < array->n_axes; ++i) has_numbers = has_numbers && array->shape[i] > 0;
    require(array->data != nullptr || !has_numbers, "an array whose data is NULL");
  }
}

}  // namespace
}  // namespace biogpu::c_api

using biogpu::c_api::attention_of;
using biogpu::c_api::body_of;
using biogpu::c_api::guarded;
using biogpu::c_api::require;

struct biogpu_block_context {
  std::shared_ptr<biogpu::c_api::BlockDevice> device;
};

struct biogpu_block {
  std::shared_ptr<biogpu::c_api::BlockDevice> device;
  biogpu::c_api::MadeBlock made;
};

int biogpu_block_version(void) { return BIOGPU_BLOCK_VERSION; }

const char* biogpu_block_error(void) { return biogpu::c_api::last_error(); }

int biogpu_block_open(const char* device, const char* precision, int n_threads,
                      biogpu_block_context** context) {
  if (context != nullptr) *context = nullptr;
  return guarded([&] {
    require(device != nullptr && precision != nullptr && context != nullptr,
            "an argument of biogpu_block_open is NULL");
    auto opened = std::make_unique<biogpu_block_context>();
    opened->device = std::make_shared<biogpu::c_api::BlockDevice>(
        biogpu::c_api::open_context(device, precision, n_threads, biogpu::c_api::kBlockPrecisions));
    *context = opened.release();
  });
}

const char* biogpu_block_device(const biogpu_block_context* context) {
  return context == nullptr ? nullptr : context->device->name().c_str();
}

void biogpu_block_close(biogpu_block_context* context) {
  guarded([&] { delete context; });
}

int biogpu_block_attention(biogpu_block_context* context, const biogpu_block_attention_call* call) {
  return guarded([&] {
    require(context != nullptr && call != nullptr, "the context or the call is NULL");
    const auto body = attention_of(*context->device, *call);
    biogpu::c_api::require_data(
        {&call->q, &call->k, &call->v, &call->bias, &call->mask, &call->out});
    context->device->run(*call, body);
  });
}

int biogpu_block_attention_workspace(biogpu_block_context* context,
                                     const biogpu_block_attention_call* call, size_t* bytes) {
  return guarded([&] {
    require(context != nullptr && call != nullptr && bytes != nullptr,
            "the context, the call or bytes is NULL");
    *bytes = context->device->measure(attention_of(*context->device, *call));
  });
}

int biogpu_block_make(biogpu_block_context* context, const char* kind,
                      const biogpu_block_weight* weights, int n_weights, float eps,
                      biogpu_block** block) {
  if (block != nullptr) *block = nullptr;
  return guarded([&] {
    require(context != nullptr && kind != nullptr && block != nullptr,
            "an argument of biogpu_block_make is NULL");
    require(n_weights >= 0 && (weights != nullptr || n_weights == 0),
            "weights are NULL, or fewer than 0");
    require(eps >= 0 && std::isfinite(eps), "eps: not a finite number of at least 0");
    const auto checkpoint = biogpu::c_api::checkpoint_of(weights, n_weights);
    biogpu::tensor::WeightTable table(checkpoint);
    auto made = std::make_unique<biogpu_block>();
    made->device = context->device;
    made->made = biogpu::c_api::make_block(context->device->context(), kind, table,
                                           eps == 0 ? biogpu::models::kNormEps : eps);
    table.finish();
    *block = made.release();
  });
}

void biogpu_block_free(biogpu_block* block) {
  guarded([&] { delete block; });
}

int biogpu_block_run(biogpu_block* block, const biogpu_block_call* call) {
  return guarded([&] {
    require(block != nullptr && call != nullptr, "the block or the call is NULL");
    const auto body = body_of(*block->device, block->made, *call);
    std::vector<const biogpu_block_tensor*> arrays{&call->out};
    for (std::int32_t i = 0; i < call->n_inputs; ++i) arrays.push_back(&call->inputs[i].tensor);
    biogpu::c_api::require_data(arrays);
    block->device->run(*call, body);
  });
}

int biogpu_block_workspace(biogpu_block* block, const biogpu_block_call* call, size_t* bytes) {
  return guarded([&] {
    require(block != nullptr && call != nullptr && bytes != nullptr,
            "the block, the call or bytes is NULL");
    *bytes = block->device->measure(body_of(*block->device, block->made, *call));
  });
}
