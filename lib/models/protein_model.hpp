#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lib/io/arrays/values.hpp"
#include "lib/models/token_batch.hpp"
#include "lib/models/vocabulary.hpp"
#include "lib/tensor/context.hpp"
#include "lib/tensor/weights/weight_table.hpp"

namespace biogpu::models {

struct ModelInfo {
  std::string architecture;  // "ESM-2", "ProtBERT"
  std::int64_t n_layers = 0;
  std::int64_t d_model = 0;
  std::int64_t n_heads = 0;
  std::int64_t max_residues = 0;      // 0: no limit but memory
  std::int64_t trained_residues = 0;  // longest in training
  std::uint64_t n_parameters = 0;     // those in use
  bool has_contacts = false;
  bool has_logits = false;
  Vocabulary vocabulary;
};

// What a forward pass is to give.
struct Request {
  std::vector<int> layers;  // hidden states: 0 the embedding, i after block i; rising
  bool per_residue = false;
  bool mean = false;
  bool begin = false;  // of the <cls> token
  bool logits = false;
  bool log_probabilities = false;  // logits less the logarithm of the sum of their exponentials
  std::vector<std::int32_t> logit_rows;  // tokens that logits are for; empty: every residue
  bool contacts = false;
};

// fp32, row-major. n: sequences; R: residues of all sequences, without <cls> and <eos>.
struct Outputs {
  struct Layer {
    int index = 0;
    io::Values residues;  // [R, d]
    io::Values mean;      // [n, d]
    io::Values begin;     // [n, d]
  };
  std::vector<Layer> layers;
  io::Values logits;    // [rows, V]
  io::Values contacts;  // [sum n_residues^2], sequence after sequence
};

// A protein language model whose weights lie in one context's memory.
class ProteinModel {
 public:
  virtual ~ProteinModel() = default;
  ProteinModel(const ProteinModel&) = delete;
  ProteinModel& operator=(const ProteinModel&) = delete;

  const ModelInfo& info() const { return info_; }

  // One forward pass. ids and starts of the batch are given; scale is the model's own. Memory is
  // reserved once and grows with the batch. Throws Error{device_memory} where it does not fit.
  Outputs run(TokenBatch batch, const Request& request);

  // Bytes of a pass over this many tokens in one sequence, without outputs.
  std::size_t measure(std::int64_t n_tokens, const Request& request);

  // What a device has spent on passes so far, and the most memory that weights and passes had
  // there; 0 on a CPU.
  double device_seconds() const { return device_seconds_; }
  std::uint64_t peak_device_bytes() const { return context_.peak_device_bytes(); }

 protected:
  // Where forward() hands out what was asked for. Tensors lie in the arena of the pass.
  struct Taps {
    const Request* request = nullptr;
    std::vector<tensor::Tensor> residues, mean, begin;  // one a layer of the request, or empty
    tensor::Tensor residue_rows, begin_rows, logit_rows;
    tensor::Tensor logits;    // f32 [rows, V], or empty
    tensor::Tensor contacts;  // f32 [sum n^2], or empty
    void hidden(tensor::Context& context, const DeviceTokens& batch, int layer,
                const tensor::Tensor& x) const;
  };

  explicit ProteinModel(tensor::Context& context) : context_(context) {}
  // Fills batch.scale and makes tables that reach to the longest sequence.
  virtual void prepare(TokenBatch& batch) = 0;
  virtual void forward(tensor::Context& context, tensor::Arena& arena, const DeviceTokens& batch,
                       const Taps& taps) = 0;

  tensor::Context& context_;
  ModelInfo info_;

 private:
  // outputs: not given where the pass is only measured.
  void pass(tensor::Context& context, tensor::Arena& arena, const TokenBatch& batch,
            const Request& request, Outputs* outputs);

  void* memory_ = nullptr;  // of the context, which frees it
  std::size_t bytes_ = 0;
  double device_seconds_ = 0;
};

struct LoadOptions {
  bool keep_rare = false;  // ProtBERT: U, Z, O, B are themselves
  // only_checked: to look at info() alone, on a context that computes nothing.
  tensor::WeightTable::Maps maps = tensor::WeightTable::Maps::read;
};

// Reads a Hugging Face folder. Throws Error{bad_input} for an architecture that is unknown or for
// weights that do not fit config.json; Error{failed}.
std::unique_ptr<ProteinModel> load_protein_model(const std::string& folder,
                                                 tensor::Context& context,
                                                 const LoadOptions& options = {});

}  // namespace biogpu::models
