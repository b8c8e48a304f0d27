#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/models/base/protein_model.hpp"
#include "lib/pipeline/record_outputs.hpp"
#include "lib/tasks/batching.hpp"

namespace biogpu::tasks {

// Which arrays a record gets. The key of an array is the record's name where the options ask for
// one array a record, else name/kind/layer: P12345/mean/33, P12345/residues/0, P12345/cls/33,
// P12345/logits.
struct ArrayOptions {
  std::vector<int> layers = {-1};  // negative ones count from the last layer, -1
  bool residues = false;           // [L, d]
  bool mean = true;                // [d], over the residues
  bool begin = false;              // [d], of the <cls> token
  bool logits = false;             // [L, V]
  bool contacts = false;           // [L, L]
};

// Layers with negative ones resolved, rising. Throws Error{usage} for one that the model does not
// have, and for one that is there twice.
std::vector<int> resolve_layers(const std::vector<int>& layers, const models::ModelInfo& info);

// The arrays of some sequences, appended to the result. options.layers are resolved.
void compute_arrays(models::ProteinModel& model, const std::vector<std::string>& names,
                    const std::vector<Tokens>& sequences, const ArrayOptions& options,
                    std::int64_t budget_tokens, pipeline::RecordOutputs& result);

}  // namespace biogpu::tasks
