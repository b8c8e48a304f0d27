#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lib/models/proteinmpnn/complex.hpp"
#include "lib/models/proteinmpnn/cpu/block.hpp"
#include "lib/models/proteinmpnn/graph.hpp"
#include "lib/models/registry.hpp"

namespace biogpu::models::proteinmpnn {

inline constexpr std::int64_t kHidden = 128;
inline constexpr std::size_t kLayers = 3;  // of the encoder, and of the decoder

// Weights of a message network, its first layer cut by what it multiplies (docs/models/
// proteinmpnn.md): per edge once, per residue once. The sum over edges is taken before the last
// layer, which is linear.
struct Message {
  cpu::Dense ends;  // [2 * kHidden] of a residue as receiver (with the bias) and as neighbour
  cpu::Dense edge;  // of an edge
  cpu::Dense middle;
  cpu::Dense last;  // for sums: over 30, and a column for the number of summed edges
};

struct FeedForward {
  cpu::Norm before, after;
  cpu::Dense in, out;
};

struct EncoderLayer {
  Message message;
  FeedForward residue;
  Message edge;  // of which `last` is a plain layer
  cpu::Norm edge_norm;
};

struct DecoderLayer {
  Message message;
  FeedForward residue;
  std::vector<float> letters;  // [kLetterCount][kHidden] what a neighbour's letter adds
};

struct Weights {
  std::int64_t n_neighbours = 48;
  bool ca_only = false;
  double noise_level = 0;        // of training, Angstrom
  std::string name;              // "v_48_020"
  std::vector<float> positions;  // [66][kHidden] what relative positions add to an edge
  cpu::Dense features;           // distances and orientation to an edge
  cpu::Norm feature_norm;
  cpu::Dense edges;
  std::vector<EncoderLayer> encoder;
  std::vector<DecoderLayer> decoder;
  cpu::Dense logits;
};

// A folder with config.json (model_type "proteinmpnn") and model.safetensors, as
// scripts/convert/proteinmpnn.py writes it. Errors: those of Checkpoint, WeightTable, ModelConfig.
Weights load_weights(const std::string& folder);
// Its weights are read by load_weights().
ModelDef proteinmpnn_model();

// What the encoder makes of a structure, and what all its samples share.
struct Encoded {
  Graph graph;
  // h: [n][kHidden] residues. Of decoder layer l: edges[l] [n][k][kHidden], and from h what a
  // residue adds to its messages as receiver (layer 0) and as neighbour not yet decoded.
  cpu::Floats h;
  cpu::Floats edges[kLayers];
  cpu::Floats receiver;
  cpu::Floats neighbour[kLayers];
};

// Taps for tests: the graph, features [n][k][kHidden], residues [n][kHidden] and edges after the
// encoder.
struct EncoderTaps {
  Graph graph;
  std::vector<float> features;
  std::vector<float> h;
  std::vector<float> edges;
};

// All functions run in the calling thread's task arena.
Encoded encode(const Weights& weights, const Complex& complex, const std::vector<float>& noise,
               EncoderTaps* taps = nullptr);

}  // namespace biogpu::models::proteinmpnn
