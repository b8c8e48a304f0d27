// Draws the letters of many sequences, residue by residue.
//
// Shapes   see Decode, lib/models/proteinmpnn/ops/decode.hpp; d 128, K up to 48.
// Mapping  a block a unit of the order (a residue, or a tied group), drawn from a counter, so that
//          a block waits only for blocks that drew before it. It waits for the units of earlier
//          neighbours, computes all layers of its residues, draws, and says so in `done`.
// Traffic  a residue: 2.3 MB of weights and 150 KiB of edges and neighbours from L2. 34 KiB shared.
//          Bound by the longest chain of residues that need each other, some 60 whatever the
//          length.
// Result   letters, independent of what else is in the batch; log-probabilities within 1e-4 of the
//          original in double precision.
// Limits   kMaxNeighbours.
// Source   Dauparas et al. 2022, doi 10.1126/science.add2187; the order of work is our own.
// Oracle   decode_ref, lib/models/proteinmpnn/ops/decode_ref.cpp.
#include "gpu/models/proteinmpnn/decoder.hpp"
#include "gpu/models/proteinmpnn/draw_letter.hpp"
#include "gpu/ops/device.hpp"
#include "gpu/prim/device_flag.hpp"
#include "gpu/rt/kernel.hpp"

namespace biogpu::gpu::proteinmpnn {
namespace {

struct UnitRoom {
  float scaled[32];    // logits over the temperature, summed over members
  std::int32_t known;  // the letter of a member that is not there, which all take; or -1
  std::int32_t letter;
  std::uint32_t ticket;
};

__device__ __forceinline__ int member(const DecodeArgs& a, const Sequence& sequence,
                                      const Unit& unit, int m) {
  return a.order[sequence.first_state + unit.begin + m];
}

__device__ __forceinline__ bool is_present(const DecodeArgs& a, const Sequence& sequence, int i) {
  return a.present[sequence.first_row + i] != 0;
}

// What members add while they are not decoded, and a wait for all earlier neighbours.
template <int kWave>
__device__ void begin_unit(const DecodeArgs& a, const Sequence& sequence, const Unit& unit) {
  const int thread = static_cast<int>(threadIdx.x);
  for (int m = 0; m < unit.n; ++m) {
    const int i = member(a, sequence, unit, m);
    const std::int64_t row = sequence.first_row + i, state = sequence.first_state + i;
    if (thread < kHidden) {
      a.seen(0, state)[thread] = a.neighbour(0, row)[thread];
      for (int l = 1; l < kLayers; ++l) a.seen(l, state)[thread] = 0;
    }
    if (a.present[row] == 0 || thread >= a.counts[row]) continue;
    const int j = a.rows[row * a.n_slots + thread] - sequence.first_row;
    if (a.rank[sequence.first_state + j] < unit.begin)
      wait_acquire(a.done + sequence.first_state + j, 1);
  }
  __syncthreads();
}

// All layers of residue i; its logits into room.logits.
template <int kWave>
__device__ void decode_residue(const DecodeArgs& a, const Sequence& sequence, int i,
                               DecoderRoom& room) {
  const std::int64_t row = sequence.first_row + i, state = sequence.first_state + i;
  const int thread = static_cast<int>(threadIdx.x);
  if (thread < kHidden) {
    room.residue.h[thread] = a.h[row * kHidden + thread];
    room.residue.receiver[thread] = a.node_proj[row * kNodeProj + thread];
  }
  load_neighbours<kWave>(a, sequence, i, room);
  for (int l = 0; l < kLayers; ++l) {
    decoder_layer<kWave>(a, sequence, l, i, room);
    if (l + 1 == kLayers) break;
    float* const seen = a.seen(l + 1, state);
    edges::project_node<kWave>(a.layer[l + 1].node_proj, room.residue, [&](int o, float value) {
      if (o < kHidden) room.residue.receiver[o] = value;
      if (o >= kHidden) seen[o - kHidden] = value;
    });
    __syncthreads();
  }
  compute_logits<kWave>(a, room);
}

// One wave's part after a residue's logits are there.
template <int kWave>
__device__ void take_logits(const DecodeArgs& a, const Sequence& sequence, const Unit& unit, int i,
                            const DecoderRoom& room, UnitRoom& of_unit) {
  const std::int64_t state = sequence.first_state + i;
  log_softmax<kWave>(room.logits, a.log_probabilities + state * kLetters);
  const int letter = wave_lane<kWave>();
  if (letter >= kLetters) return;
  const float weight = a.rules.tied_weight[sequence.first_row + i];
  of_unit.scaled[letter] += weight *
                            (room.logits[letter] / static_cast<float>(sequence.temperature)) /
                            static_cast<float>(unit.n);
}

// By one wave: the letter of a unit, and the probabilities it was drawn from.
template <int kWave>
__device__ void choose_letter(const DecodeArgs& a, const Sequence& sequence, const Unit& unit,
                              UnitRoom& of_unit) {
  const int lane = wave_lane<kWave>();
  int letter = of_unit.known;
  if (letter < 0) {
    const int last = member(a, sequence, unit, unit.n - 1);
    const std::int64_t state = sequence.first_state + last;
    const float scaled = lane < kLetters ? of_unit.scaled[lane] : of_unit.scaled[0];
    const double p = letter_probability<kWave>(a.rules, sequence, last, scaled);
    const int drawn = drawn_letter<kWave>(p, a.uniforms[state]);
    letter = a.rules.free[sequence.first_row + last] != 0 ? drawn : a.letters[state];
    for (int m = 0; m < unit.n; ++m) {
      const int i = member(a, sequence, unit, m);
      const bool shown =
          a.rules.rules[sequence.rules].is_tied != 0 || a.rules.free[sequence.first_row + i] != 0;
      if (shown && lane < kLetters)
        a.probabilities[(std::int64_t{sequence.first_state} + i) * kLetters + lane] =
            static_cast<float>(p);
    }
  }
  if (lane == 0) of_unit.letter = letter;
}

// The letter joins what members add to their neighbours; then they are done.
template <int kWave>
__device__ void finish_unit(const DecodeArgs& a, const Sequence& sequence, const Unit& unit,
                            const UnitRoom& of_unit) {
  const int thread = static_cast<int>(threadIdx.x);
  const int letter = of_unit.letter, known = letter == kNoLetter ? 0 : letter;
  for (int m = 0; m < unit.n; ++m) {
    const std::int64_t state = sequence.first_state + member(a, sequence, unit, m);
    if (thread < kHidden)
      for (int l = 0; l < kLayers; ++l)
        a.seen(l, state)[thread] += a.layer[l].letters[(2 * known + 1) * kHidden + thread];
    if (thread == 0) {
      a.letters[state] = letter;
      a.drawn[state] = static_cast<float>(letter);
    }
  }
  __syncthreads();
  if (thread != 0) return;
  for (int m = 0; m < unit.n; ++m)
    store_release(a.done + sequence.first_state + member(a, sequence, unit, m), 1);
}

template <int kWave>
__device__ void decode_unit(const DecodeArgs& a, const Unit& unit, DecoderRoom& room,
                            UnitRoom& of_unit) {
  const Sequence sequence = a.sequences[unit.sequence];
  const bool is_first_wave = threadIdx.x < kWave;
  if (threadIdx.x < kLetters) of_unit.scaled[threadIdx.x] = 0;
  if (threadIdx.x == 0) of_unit.known = -1;
  begin_unit<kWave>(a, sequence, unit);
  for (int m = 0; m < unit.n; ++m) {
    const int i = member(a, sequence, unit, m);
    if (!is_present(a, sequence, i)) {
      // Its letter is all's, and the members behind it are not computed.
      if (threadIdx.x == 0) of_unit.known = a.letters[sequence.first_state + i];
      if (is_first_wave) {
        float* const out = a.log_probabilities;
        log_softmax<kWave>(a.logit_bias, out + (std::int64_t{sequence.first_state} + i) * kLetters);
      }
      break;
    }
    decode_residue<kWave>(a, sequence, i, room);
    if (is_first_wave) take_logits<kWave>(a, sequence, unit, i, room, of_unit);
    __syncthreads();
  }
  __syncthreads();
  if (is_first_wave) choose_letter<kWave>(a, sequence, unit, of_unit);
  __syncthreads();
  finish_unit<kWave>(a, sequence, unit, of_unit);
}

template <int kWave>
__global__ BIOGPU_LAUNCH_BOUNDS(kThreads<kWave>, 2) void decode_kernel(DecodeArgs a) {
  __shared__ DecoderRoom room;
  __shared__ UnitRoom of_unit;
  for (;;) {
    if (threadIdx.x == 0) of_unit.ticket = atomicAdd(a.next_unit, 1u);
    __syncthreads();
    const std::uint32_t ticket = of_unit.ticket;
    if (ticket >= static_cast<std::uint32_t>(a.n_units)) return;
    decode_unit<kWave>(a, a.units[ticket], room, of_unit);
    __syncthreads();
  }
}

DecodeArgs args_of(const models::proteinmpnn::Decode& op) {
  DecodeArgs a;
  a.rows = op.rows.as<std::int32_t>();
  a.counts = op.counts.as<std::int32_t>();
  a.present = op.present.as<std::uint8_t>();
  a.n_slots = static_cast<int>(op.rows.shape[1]);
  a.h = op.h.as<float>();
  a.edges = op.edges.as<float>();
  a.node_proj = op.node_proj.as<float>();
  a.n_rows = op.rows.shape[0];
  for (int l = 0; l < kLayers; ++l) {
    const models::proteinmpnn::DecoderLayer& layer = op.layer[l];
    a.layer[l] = {edges::product_of(layer.middle), edges::update_of(layer.update),
                  edges::columns_of(layer.node_proj), layer.letters.as<float>()};
  }
  a.logits = op.logit_weight.as<float>();
  a.logit_bias = op.logit_bias.as<float>();
  a.sequences = op.sequences;
  a.order = op.order.as<std::int32_t>();
  a.rank = op.rank.as<std::int32_t>();
  a.uniforms = op.uniforms.as<double>();
  a.units = op.units;
  a.n_units = static_cast<std::int32_t>(op.n_units);
  a.rules = op.rules;
  a.done = op.flags.as<std::uint32_t>();
  a.next_unit = a.done + op.drawn.shape[0];
  a.letters = op.letters.as<std::int32_t>();
  a.drawn = op.drawn.as<float>();
  a.log_probabilities = op.log_probabilities.as<float>();
  a.probabilities = op.probabilities.as<float>();
  return a;
}

}  // namespace

void decode(ops::Device& device, const models::proteinmpnn::Decode& op) {
  if (op.n_units == 0) return;
  Stream& stream = device.stream();
  stream.fill(op.flags.data, 0, op.flags.bytes());
  stream.fill(op.probabilities.data, 0, op.probabilities.bytes());
  const auto most = 2 * static_cast<std::size_t>(stream.n_multiprocessors());
  const auto n_units = static_cast<std::size_t>(op.n_units);
  with_matrix_wave(stream.wave_width(), [&](auto wave) {
    stream.launch(decode_kernel<wave()>, n_units < most ? n_units : most, kThreads<wave()>,
                  args_of(op));
  });
}

}  // namespace biogpu::gpu::proteinmpnn
