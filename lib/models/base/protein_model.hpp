#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/models/base/model.hpp"
#include "lib/models/base/token_batch.hpp"
#include "lib/models/base/tokenizer.hpp"

namespace biogpu::models {

// Names of what a protein model's pass gives, fp32. n: sequences; R: residues of all sequences,
// without <cls> and <eos>. layer: 0 the embedding, i after block i.
std::string hidden_of_residues(int layer);  // "hidden.12": [R, d]
std::string mean_hidden(int layer);         // "hidden.12.mean": [n, d], over residues
std::string begin_hidden(int layer);        // "hidden.12.begin": [n, d], of the <cls> token
// [rows, V]: scores of words, and the same less the logarithm of the sum of their exponentials. One
// of the two in a pass.
inline constexpr char kLogits[] = "logits";
inline constexpr char kLogProbabilities[] = "log_probabilities";
inline constexpr char kContacts[] = "contacts";  // [sum n_residues^2], sequence after sequence

// The layer of the first three, or nothing for another name.
std::optional<int> hidden_layer(std::string_view name);

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

  // One forward pass. outputs: the names above. Throws Error{bad_input} where the weights cannot
  // give it, Error{device_memory} where the pass does not fit.
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
