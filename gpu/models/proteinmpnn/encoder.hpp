#pragma once

#include "gpu/models/proteinmpnn/structures.hpp"
#include "gpu/rt/stream.hpp"

namespace biogpu::gpu::proteinmpnn {

// One layer of the encoder: messages to residues, then new edges. layer: from 0; it chooses which
// of out.residue_ends is read, the other is written for the next layer.
void launch_encoder_layer(const Structures& structures, const EncoderLayer& weights, int layer,
                          const Encoded& out, Stream& stream);

// What the decoder takes of residues and edges: out.decoder_edges, receiver, neighbour.
void launch_decoder_parts(const Structures& structures, const DecoderWeights& weights,
                          const Encoded& out, Stream& stream);

}  // namespace biogpu::gpu::proteinmpnn
