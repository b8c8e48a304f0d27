#pragma once

#include <cstdint>
#include <vector>

#include "lib/tensor/context.hpp"

namespace biogpu::decode {

struct CacheShape {
  int n_layers = 0;
  std::int64_t n_sequences = 0;
  std::int64_t capacity = 0;  // steps
  std::int64_t n_key_heads = 0;
  std::int64_t head = 0;
};

// Keys and values of a batch of sequences that are decoded one row a step. Its tensors keep their
// addresses, and how far the sequences are is in the context's memory: what is called between two
// advance() may be captured once and replayed for every step. A step, for each layer:
//   append(layer, kv); attend(layer, q, scale, out);   then once: advance().
class KeyValueCache {
 public:
  // Memory of the arena, for as long as the cache lives. Throws Error{failed} where the rows of
  // a layer are more than 2^31 - 1, Error{device_memory} where the arena is too small.
  KeyValueCache(tensor::Context& context, tensor::Arena& arena, const CacheShape& shape);

  const CacheShape& shape() const { return shape_; }
  std::int64_t n_steps() const { return n_steps_; }  // that advance() has ended
  // i32 [n_sequences]: the number of this step, from 0; what a table of positions is read with.
  const tensor::Tensor& positions() const { return positions_; }
  // One row for each sequence: the queries of a step.
  const tensor::Ragged& queries() const { return queries_; }

  // kv: operand [n_sequences, 2 n_key_heads head], rows of any distance: keys, then values.
  void append(int layer, const tensor::Tensor& kv);
  // q: operand [n_sequences, H, head], of this step, over the keys appended so far.
  void attend(int layer, const tensor::Tensor& q, float scale, const tensor::Tensor& out);
  // Ends a step. Throws Error{failed} where the cache was full before.
  void advance();
  // Back to the first step, for other sequences.
  void restart();

 private:
  void set_steps(std::int64_t n);

  tensor::Context& context_;
  const CacheShape shape_;
  std::vector<tensor::Tensor> layers_;  // operand [n_sequences * capacity, 2 n_key_heads head]
  tensor::Ragged queries_;
  tensor::Tensor starts_;     // i32 [n_sequences + 1]
  tensor::Tensor positions_;  // i32 [n_sequences]
  tensor::Tensor counts_;     // i32 [n_sequences]: positions + 1
  std::int64_t n_steps_ = 0;
};

}  // namespace biogpu::decode
