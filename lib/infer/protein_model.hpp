#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lib/infer/values.hpp"
#include "lib/infer/vocabulary.hpp"
#include "lib/nn/backend.hpp"
#include "lib/nn/weights/weight_table.hpp"

namespace biogpu::infer {

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
    Values residues;  // [R, d]
    Values mean;      // [n, d]
    Values begin;     // [n, d]
  };
  std::vector<Layer> layers;
  Values logits;    // [rows, V]
  Values contacts;  // [sum n_residues^2], sequence after sequence
};

// A protein language model whose weights lie in one backend's memory.
class ProteinModel {
 public:
  virtual ~ProteinModel() = default;
  ProteinModel(const ProteinModel&) = delete;
  ProteinModel& operator=(const ProteinModel&) = delete;

  const ModelInfo& info() const { return info_; }

  // One forward pass. ids and starts of the batch are given; scale is the model's own. Memory is
  // reserved once and grows with the batch. Throws Error{device_memory} where it does not fit.
  Outputs run(nn::HostBatch batch, const Request& request);

  // Bytes of a pass over this many tokens in one sequence, without outputs.
  std::size_t measure(std::int64_t n_tokens, const Request& request);

  // What a device has spent on passes so far, and the most memory that weights and passes had
  // there; 0 on a CPU.
  double device_seconds() const { return device_seconds_; }
  std::uint64_t peak_device_bytes() const { return backend_.peak_device_bytes(); }

 protected:
  // Where forward() hands out what was asked for. Tensors lie in the arena of the pass.
  struct Taps {
    const Request* request = nullptr;
    std::vector<nn::Tensor> residues, mean, begin;  // one a layer of the request, or empty
    nn::Tensor residue_rows, begin_rows, logit_rows;
    nn::Tensor logits;    // f32 [rows, V], or empty
    nn::Tensor contacts;  // f32 [sum n^2], or empty
    void hidden(nn::Backend& backend, const nn::Batch& batch, int layer, const nn::Tensor& x) const;
  };

  explicit ProteinModel(nn::Backend& backend) : backend_(backend) {}
  // Fills batch.scale and makes tables that reach to the longest sequence.
  virtual void prepare(nn::HostBatch& batch) = 0;
  virtual void forward(nn::Backend& backend, nn::Arena& arena, const nn::Batch& batch,
                       const Taps& taps) = 0;

  nn::Backend& backend_;
  ModelInfo info_;

 private:
  // outputs: not given where the pass is only measured.
  void pass(nn::Backend& backend, nn::Arena& arena, const nn::HostBatch& batch,
            const Request& request, Outputs* outputs);

  void* memory_ = nullptr;  // of the backend, which frees it
  std::size_t bytes_ = 0;
  double device_seconds_ = 0;
};

struct LoadOptions {
  bool keep_rare = false;  // ProtBERT: U, Z, O, B are themselves
  // only_checked: to look at info() alone, on a backend that computes nothing.
  nn::WeightTable::Maps maps = nn::WeightTable::Maps::read;
};

// Reads a Hugging Face folder. Throws Error{bad_input} for an architecture that is unknown or for
// weights that do not fit config.json; Error{failed}.
std::unique_ptr<ProteinModel> load_protein_model(const std::string& folder, nn::Backend& backend,
                                                 const LoadOptions& options = {});

}  // namespace biogpu::infer
