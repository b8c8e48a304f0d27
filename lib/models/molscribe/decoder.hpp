#pragma once

#include <cstdint>
#include <vector>

#include "lib/models/molscribe/config.hpp"
#include "lib/models/molscribe/ops/decode_steps.hpp"
#include "lib/models/molscribe/step_weights.hpp"
#include "lib/models/molscribe/vocabulary.hpp"
#include "lib/tensor/context.hpp"
#include "lib/tensor/weights/weight_table.hpp"

namespace biogpu::models::molscribe {

// The network that writes tokens while it looks at an image's rows. Every token has the positional
// encoding of place 0, at every step and in every batch: what the original computes for a single
// image. (docs/models/molscribe.md)
class TokenDecoder {
 public:
  TokenDecoder(const Config& config, const Vocabulary& vocabulary, tensor::WeightTable& table,
               tensor::Context& context);

  std::int64_t n_layers() const { return n_layers_; }
  std::int64_t width() const { return width_; }
  std::int64_t n_heads() const { return n_heads_; }
  std::int64_t n_tokens() const { return n_tokens_; }
  // Whether all steps are one operation, decode_steps, on the context that this was made for: on
  // GPUs in fp32, for the shape that has it. Otherwise a step is single operations.
  bool is_fused() const { return is_fused_; }
  // Columns of the keys and values of an image's rows, of all layers.
  std::int64_t memory_width() const { return 2 * width_ * n_layers(); }

  // encoded: operand [R, encoder_width]; memory: operand [R, memory_width].
  void make_memory(tensor::Context& context, tensor::Arena& arena, const tensor::Tensor& encoded,
                   const tensor::Tensor& memory) const;

  // Where the rows of a step find what they attend to.
  struct Caches {
    tensor::Tensor own;              // operand [layers, B * capacity, 2 width]
    tensor::Tensor own_starts;       // i32 [B + 1]
    tensor::Tensor lengths, n_keys;  // i32 [B]
    tensor::Tensor memory;           // operand [B * n_memory, memory_width]
    tensor::Tensor memory_starts;    // i32 [B + 1]
    tensor::Ragged queries;          // one row each
  };
  // tokens: i32 [B]. hidden: f32 [B, width]; logits: f32 [B, n_tokens].
  void step(tensor::Context& context, tensor::Arena& arena, const tensor::Tensor& tokens,
            const Caches& caches, const tensor::Tensor& hidden, const tensor::Tensor& logits) const;
  // Where is_fused(): up to n_steps tokens of all rows.
  void steps(tensor::Context& context, std::int64_t n_steps, const Caches& caches,
             const SelectToken& state) const;

 private:
  struct Layer {
    tensor::Norm self_norm, cross_norm, ffn_norm;
    tensor::Linear qkv, self_out, q, cross_out, ffn_up, ffn_down;
  };

  void take_layers(const Config& config, const std::string& root, tensor::WeightTable& table,
                   tensor::Context& context);

  const std::int64_t width_, n_heads_, n_layers_, n_tokens_;
  const bool is_fused_;
  tensor::Tensor table_;  // f32 [tokens, width], scaled, with the encoding of place 0
  tensor::Linear to_memory_, memory_keys_values_, head_;
  std::vector<Layer> layers_;  // empty where fused, as is head_
  StepWeights fused_;
  tensor::Norm last_norm_;
};

// B rows that are decoded together, each an image of its own, with all that belongs to them in a
// context's memory. A row that is at its end stays as it is while others go on.
class DecodeRows {
 public:
  DecodeRows(tensor::Context& context, const TokenDecoder& decoder, const Config& config,
             const Vocabulary& vocabulary, std::int64_t n_rows);
  ~DecodeRows();
  DecodeRows(const DecodeRows&) = delete;
  DecodeRows& operator=(const DecodeRows&) = delete;

  // Bytes in a context's memory.
  static std::size_t bytes(const TokenDecoder& decoder, const Config& config, std::int64_t n_rows,
                           tensor::Precision precision);
  std::int64_t n_rows() const { return n_rows_; }

  // Gives a row another image. memory: operand [n_memory, memory_width]. Before it, fetch().
  void start(std::int64_t row, const tensor::Tensor& memory);
  // Queues n tokens of every row that is not at its end; as many as there is room for cost no more
  // than the rows need where the decoder is fused.
  void step(std::int64_t n);
  // Waits for the steps and reads how far the rows are.
  void fetch();
  bool is_at_end(std::int64_t row) const;
  std::int64_t length(std::int64_t row) const { return lengths_[static_cast<std::size_t>(row)]; }

  struct Sequence {
    std::vector<std::int32_t> tokens;
    std::vector<float> log_probabilities, margins;
  };
  Sequence sequence(std::int64_t row) const;
  // f32 [B * capacity, width]: row `row` has those from row * capacity on.
  const tensor::Tensor& states() const { return select_.states; }
  std::int64_t capacity() const { return capacity_; }

 private:
  void put();

  tensor::Context& context_;
  const TokenDecoder& decoder_;
  const std::int64_t n_rows_, capacity_, n_memory_;
  const std::int32_t stop_ = Vocabulary::kStop;
  void* memory_ = nullptr;
  tensor::Arena arena_;
  TokenDecoder::Caches caches_;
  SelectToken select_;
  std::vector<std::int32_t> tokens_, lengths_;  // as of the last fetch()
};

}  // namespace biogpu::models::molscribe
