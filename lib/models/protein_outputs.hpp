#pragma once

#include <optional>
#include <string>
#include <string_view>

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

}  // namespace biogpu::models
