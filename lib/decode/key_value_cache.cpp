#include "lib/decode/key_value_cache.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "lib/core/error.hpp"
#include "lib/ops/attention/cross_attention.hpp"
#include "lib/ops/gather/append_rows.hpp"

namespace biogpu::decode {

using tensor::DType;
using tensor::Tensor;

KeyValueCache::KeyValueCache(tensor::Context& context, tensor::Arena& arena,
                             const CacheShape& shape)
    : context_(context), shape_(shape) {
  constexpr std::int64_t kMaxRows = std::numeric_limits<std::int32_t>::max();
  const std::int64_t n = shape.n_sequences;
  if (n < 1 || shape.capacity < 1 || shape.capacity > kMaxRows / n)
    throw Error(
        ErrorCode::failed,
        fmt::format("a cache of {} sequences and {} steps; their product must be from 1 to {}", n,
                    shape.capacity, kMaxRows));
  const std::int64_t width = 2 * shape.n_key_heads * shape.head;
  for (int layer = 0; layer < shape.n_layers; ++layer)
    layers_.push_back(arena.take(context.compute_dtype(), {n * shape.capacity, width}));
  std::vector<std::int32_t> starts(static_cast<std::size_t>(n + 1));
  std::iota(starts.begin(), starts.end(), 0);
  queries_ = context.upload_ragged(starts, arena);
  for (std::int32_t& start : starts) start *= static_cast<std::int32_t>(shape.capacity);
  starts_ = arena.take(DType::i32, {n + 1});
  positions_ = arena.take(DType::i32, {n});
  counts_ = arena.take(DType::i32, {n});
  context.copy_in(starts_, starts.data());
  set_steps(0);
}

void KeyValueCache::append(int layer, const Tensor& kv) {
  ops::append_rows(context_, {kv, starts_, positions_, layers_[static_cast<std::size_t>(layer)]});
}

void KeyValueCache::attend(int layer, const Tensor& q, float scale, const Tensor& out) {
  const Tensor& rows = layers_[static_cast<std::size_t>(layer)];
  const std::int64_t width = rows.shape[1] / 2;
  ops::cross_attention(
      context_, {q, tensor::split_heads(rows.slice(1, 0, width), shape_.n_key_heads),
                 tensor::split_heads(rows.slice(1, width, 2 * width), shape_.n_key_heads), scale,
                 &queries_, starts_, counts_, false, out});
}

void KeyValueCache::advance() {
  if (n_steps_ == shape_.capacity)
    throw Error(ErrorCode::failed,
                fmt::format("a cache with room for {} steps is full", shape_.capacity));
  set_steps(n_steps_ + 1);
}

void KeyValueCache::restart() { set_steps(0); }

// Of a full cache the counts stay at its capacity: another step would read past a sequence's rows.
void KeyValueCache::set_steps(std::int64_t n) {
  n_steps_ = n;
  const auto n_sequences = static_cast<std::size_t>(shape_.n_sequences);
  std::vector<std::int32_t> numbers(n_sequences, static_cast<std::int32_t>(n));
  context_.copy_in(positions_, numbers.data());
  numbers.assign(n_sequences, static_cast<std::int32_t>(std::min(n + 1, shape_.capacity)));
  context_.copy_in(counts_, numbers.data());
}

}  // namespace biogpu::decode
