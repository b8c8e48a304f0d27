#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/models/model.hpp"
#include "lib/models/protein_outputs.hpp"
#include "lib/models/token_batch.hpp"
#include "lib/models/vocabulary.hpp"

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

// A protein language model.
class ProteinModel : public Model {
 public:
  const ModelInfo& info() const { return info_; }

  std::string describe() const override;

  // One forward pass. outputs: names of lib/models/protein_outputs.hpp. Throws Error{bad_input}
  // where the weights cannot give it, Error{device_memory} where the pass does not fit.
  Outputs run(TokenBatch batch, const std::vector<std::string>& outputs);

  // Bytes of a pass over this many tokens in one sequence.
  std::size_t measure(std::int64_t n_tokens, const std::vector<std::string>& outputs);

 protected:
  explicit ProteinModel(tensor::Context& context) : Model(context) {}
  // What tokens are multiplied by, or nothing; and makes tables that reach to the longest sequence.
  virtual std::vector<float> prepare(const TokenBatch& batch) = 0;
  // Fills the outputs that the pass has.
  virtual void forward(Pass& pass, const DeviceTokens& batch) = 0;

  // Whether the pass gives anything of a layer's hidden states; and gives it.
  static bool wants_hidden(const Pass& pass, int layer);
  static void give_hidden(Pass& pass, const DeviceTokens& batch, int layer,
                          const tensor::Tensor& x);

  ModelInfo info_;

 private:
  void check(const std::vector<std::string>& outputs) const;
  void forward_pass(Pass& pass, const TokenBatch& host, const std::vector<float>& scale,
                    const std::vector<std::string>& outputs);
};

}  // namespace biogpu::models
