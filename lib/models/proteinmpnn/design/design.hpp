#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/models/proteinmpnn/inputs/design_inputs.hpp"
#include "lib/models/proteinmpnn/network/weights.hpp"
#include "lib/models/proteinmpnn/network/work.hpp"
#include "lib/pipeline/record_outputs.hpp"
#include "lib/tensor/weights/safetensors.hpp"

namespace biogpu::models::proteinmpnn {

struct DesignOptions {
  std::int64_t n_sequences = 1;  // at each temperature
  std::vector<double> temperatures = {0.1};
  std::uint64_t seed = 1;
  double backbone_noise = 0;  // standard deviation, Angstrom
  bool probabilities = false;
  std::string program;  // what the field git_hash names
};

// Random numbers of another program, to repeat its run: tensors NAME/order_native [n],
// NAME/order [samples, n], NAME/uniform [samples, n] in a safetensors file.
using Replay = std::optional<tensor::Checkpoint>;

// A structure from its file to what is written of it. works() says what is to be computed, on a CPU
// or a GPU, and where the results go; write() comes after. Not to be moved between the two.
class StructureJob {
 public:
  virtual ~StructureJob() = default;
  virtual std::vector<Work> works() = 0;
  virtual void write(pipeline::RecordOutputs& result) const = 0;
  // What a user should know of the structure as it was read.
  virtual const std::vector<std::string>& warnings() const = 0;
};

// The designs of one structure as the original writes them: the structure's own sequence and its
// score, then each sample. result.text is FASTA; with options.probabilities, result.arrays has
// NAME/probs, /log_probs [samples, n, 21], /S [samples, n], /mask, /chain [n]. All arguments
// outlive the job. (Dauparas et al. 2022, doi 10.1126/science.add2187)
std::unique_ptr<StructureJob> design_job(const Info& info, const DesignInputs& inputs,
                                         const DesignOptions& options, const Replay& replay,
                                         const std::string& path);

// A sequence given for a structure: chains in the order of the designed ones, joined by '/'.
struct ReadSequence {
  std::string name;
  std::string letters;
};

// Those of a FASTA file. Not by io::SequenceReader, which takes '/' for damage.
std::vector<ReadSequence> read_sequences(const std::string& path);

// Negative mean log-probability of the structure's own sequence and of each given one, each over
// n_sequences random orders. result.text has a line each: structure, sequence, its letters, score
// and standard deviation over designed residues, the same over all, number of orders.
std::unique_ptr<StructureJob> score_job(const Info& info, const DesignInputs& inputs,
                                        const DesignOptions& options, const Replay& replay,
                                        const std::string& path,
                                        const std::vector<ReadSequence>& given);
std::string score_header();

}  // namespace biogpu::models::proteinmpnn
