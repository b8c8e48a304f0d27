// Log-probabilities of given sequences: every residue sees the letters of those before it.
//
// Shapes   see ScoreArgs.
// Mapping  a launch a layer, a block a residue of a sequence.
// Traffic  a residue and layer: 0.77 MB of weights, 50 KiB of edges and neighbours from L2.
// Result   within 1e-4 of the original in double precision; the bytes of the decoder for the
//          letters it drew, where nothing is tied.
// Limits   kMaxNeighbours.
// Source   Dauparas et al. 2022, doi 10.1126/science.add2187.
// Oracle   score_letters, lib/models/proteinmpnn/decoder.cpp.
#include "gpu/models/proteinmpnn/decoder.hpp"
#include "gpu/models/proteinmpnn/decoder_layer.hpp"
#include "gpu/rt/kernel.hpp"

namespace biogpu::gpu::proteinmpnn {
namespace {

// What residues add to their neighbours' messages in layer 0.
__global__ void score_begin_kernel(ScoreArgs a) {
  const std::int64_t state = blockIdx.x;
  const Sequence sequence = a.sequences.sequences[a.sequences.sequence_of[state]];
  const std::int64_t row = sequence.first_row + (state - sequence.first_state);
  const int c = static_cast<int>(threadIdx.x);
  const int letter = a.sequences.letters[state];
  a.sequences.seen[0][state * kHidden + c] =
      a.encoded.neighbour[0][row * kHidden + c] + a.weights.layer[0].letters[letter * kHidden + c];
}

template <int kWave>
__device__ void score_next(const ScoreArgs& a, std::int64_t state, int layer, bool present,
                           DecoderRoom& room) {
  const float* const letters =
      a.weights.layer[layer + 1].letters + a.sequences.letters[state] * kHidden;
  float* const seen = a.sequences.seen[layer + 1] + state * kHidden;
  const int thread = static_cast<int>(threadIdx.x);
  if (!present) {
    if (thread < kHidden) seen[thread] = letters[thread];
    return;
  }
  if (thread < kHidden) a.h[state * kHidden + thread] = room.residue.h[thread];
  multiply_ends<kWave>(a.weights.layer[layer + 1].ends, room.residue, room.residue,
                       [&](int o, float value) {
                         if (o < kHidden) a.receiver[state * kHidden + o] = value;
                         if (o >= kHidden) seen[o - kHidden] = value + letters[o - kHidden];
                       });
}

template <int kWave>
__global__ BIOGPU_LAUNCH_BOUNDS(kThreads<kWave>, 2) void score_layer_kernel(ScoreArgs a,
                                                                            int layer) {
  __shared__ DecoderRoom room;
  const std::int64_t state = blockIdx.x;
  const Sequence sequence = a.sequences.sequences[a.sequences.sequence_of[state]];
  const int i = static_cast<int>(state) - sequence.first_state;
  const std::int64_t row = sequence.first_row + i;
  const bool present = a.structures.present[row] != 0;
  const int thread = static_cast<int>(threadIdx.x);
  if (present) {
    if (thread < kHidden) {
      const bool first = layer == 0;
      room.residue.h[thread] =
          first ? a.encoded.h[row * kHidden + thread] : a.h[state * kHidden + thread];
      room.residue.receiver[thread] =
          first ? a.encoded.receiver[row * kHidden + thread] : a.receiver[state * kHidden + thread];
    }
    load_neighbours<kWave>(a.structures, a.sequences, sequence, i, room);
    decoder_layer<kWave>(a.weights.layer[layer], a.encoded, a.sequences, sequence, layer, i, room);
  }
  if (layer + 1 < kLayers) return score_next<kWave>(a, state, layer, present, room);
  if (present) compute_logits<kWave>(a.weights, room);
  if (threadIdx.x >= kWave) return;
  log_softmax<kWave>(present ? room.logits : a.weights.logit_bias,
                     a.sequences.log_probabilities + state * kLetters);
}

}  // namespace

void launch_score(const ScoreArgs& args, Stream& stream) {
  const auto n_states = static_cast<std::size_t>(args.sequences.n_states);
  if (n_states == 0) return;
  stream.launch(score_begin_kernel, n_states, kHidden, args);
  with_matrix_wave(stream.wave_width(), [&](auto wave) {
    for (int layer = 0; layer < kLayers; ++layer)
      stream.launch(score_layer_kernel<wave()>, n_states, kThreads<wave()>, args, layer);
  });
}

}  // namespace biogpu::gpu::proteinmpnn
