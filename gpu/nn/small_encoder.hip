// An encoder in one launch, for batches whose products are too small to fill the device.
//
// Shapes   see small_encoder.hpp.
// Mapping  groups of kGroup blocks take 16 tokens of one sequence through all layers. A block
//          computes some heads, some columns of the residual stream, which it keeps, and some
//          hidden columns with their part of the sum of the product down; what others need it
//          writes into their shared memory. Only keys and values cross groups: each wave posts the
//          tile that it made, and waits for the tiles that it reads.
// Traffic  all weights once a group, from L2: 2.5 MB a layer of ESM-2 8M. They depend on
//          nothing, so each wave has up to kPlaced batches on their way into shared memory, and
//          reads what the next step begins with into registers before it waits for the others.
//          What is left is latency: four waits for the group and one for other groups' keys a
//          layer.
// Result   sums over k in ascending steps of 16 inside a part, parts in ascending order:
//          independent of the batch; not the same bytes as gemm.hip and attention.hip. The
//          normalisation in front of a product is worked into it: operands are x times the norm's
//          weight, mean and deviation come in behind the sum.
// Limits   suits_small_encoder(); kMostGroups groups; as many as run at the same time.
// Source   own. Moments of parts: Chan, Golub and LeVeque 1979.
// Oracle   make_reference_backend, lib/nn/reference_ops.cpp.
#include "gpu/nn/small_encoder.hpp"

#include "gpu/nn/small_encoder_steps.hpp"

namespace biogpu::gpu::nn {
namespace {

// Numbers that go with the columns of a tile; see SmallPart::vector_of().
struct ColumnVectors {
  float bias = 0, weight = 0;  // of column lane % 16
};
template <class B>
__device__ __forceinline__ ColumnVectors load_vectors(const B& b, int layer, SmallStep step,
                                                      int unit) {
  const float* const vector = b.vector(layer, step, unit);
  return {vector[b.lane % 16], vector[16 + b.lane % 16]};
}

template <class B, SmallStep kStep>
__device__ __forceinline__ void run_product(const B& b, WeightStream<B>& weights, int layer) {
  constexpr bool kIsProjection = kStep == SmallStep::projection;
  SmallTurn turn = b.part.turn(kStep, 0);
  ColumnVectors vectors;
  typename WeightStream<B>::Batch early;  // of the projection
  const std::uint8_t* const source = weights.template source<kStep>(layer);
  // The second share of `down`, which only some waves have, comes while the first is multiplied.
  constexpr int kMost = B::Known::template kMostBatches<kStep>;
  constexpr int kLate = kStep == SmallStep::down ? kMost : 0;
  typename WeightStream<B>::Batch late[kLate > 0 ? kLate : 1];
  if (kLate > 0 && b.part.turn(kStep, 1).active) {
#pragma unroll
    for (int i = 0; i < kLate; ++i)
      weights.load(late[i], source + (kLate + i) * WeightStream<B>::kBatchBytes);
  }
  if (turn.active) {
    if (kStep != SmallStep::down) vectors = load_vectors(b, layer + 1, kStep, turn.unit);
    if (kIsProjection) weights.load(early, source);
  }
  await_others<B, kStep>(b, layer);
  std::uint16_t* const x = kStep == SmallStep::qkv || kStep == SmallStep::up ? b.y : b.mixed;
  TileSum<B::kWave> sum[B::kRowTiles];
  if (turn.active && !kIsProjection) weights.await();
#pragma unroll 1
  for (int i = 0, batch = 0; turn.active; ++i) {
    constexpr int kBytes = WeightStream<B>::kBatchBytes;
#pragma unroll
    for (int r = 0; r < B::kRowTiles; ++r) sum[r] = {};
    const std::uint8_t* const at = source + batch * kBytes;
    const auto load = [&](auto& held, int n) {
      if (kIsProjection && n == 0) {
#pragma unroll
        for (int p = 0; p < kBatch; ++p) held[p] = early[p];
      } else if (kHasAsyncCopies && !kIsProjection && i == 0) {
        weights.load(held, weights.place + n * kBytes);
      } else {
        weights.load(held, at + n * kBytes);
      }
    };
    if (kStep == SmallStep::qkv && turn.unit >= 2 * b.part.n_heads() * B::kHeadTiles) {
      multiply_turn<B, kStep, true>(b, turn, x, sum, load);
    } else {
      multiply_turn<B, kStep, false>(b, turn, x, sum, load);
    }
    if (i == 0) weights.template go_on<kStep>(layer);
    if constexpr (kIsProjection) break;
    if constexpr (kStep == SmallStep::qkv)
      finish_qkv(b, layer, turn.unit, vectors.bias, vectors.weight, sum);
    if constexpr (kStep == SmallStep::up)
      finish_up(b, turn.unit, vectors.bias, vectors.weight, sum);
    if constexpr (kStep == SmallStep::down) send_part(b, turn.unit, sum);
    if constexpr (kLate > 0) {
      turn = b.part.turn(kStep, 1);
      if (!turn.active) return;
#pragma unroll
      for (int r = 0; r < B::kRowTiles; ++r) sum[r] = {};
      multiply_turn<B, kStep, false>(b, turn, x, sum, [&](auto& held, int n) {
#pragma unroll
        for (int p = 0; p < kBatch; ++p) held[p] = late[n][p];
      });
      send_part(b, turn.unit, sum);
    }
    if (kMost > 0) return;
    batch += turn.n_batches;
    turn = b.part.turn(kStep, i + 1);
    if (turn.active && kStep != SmallStep::down)
      vectors = load_vectors(b, layer + 1, kStep, turn.unit);
    if (!turn.active) return;
  }
  if constexpr (kIsProjection) {
    finish_projection(b, turn, vectors.bias, vectors.weight, sum);
  } else {
    weights.template go_on<kStep>(layer);
  }
}

// One step of a layer: what it begins with, the wait for the others, its work.
template <class B, SmallStep kStep>
__device__ __forceinline__ void run_step(const B& b, WeightStream<B>& weights, int layer) {
  if constexpr (kStep == SmallStep::qkv || kStep == SmallStep::projection ||
                kStep == SmallStep::up || kStep == SmallStep::down) {
    run_product<B, kStep>(b, weights, layer);
  } else if constexpr (kStep == SmallStep::attend) {
    await_others<B, kStep>(b, layer);
    run_attend(b, layer);
  } else if (b.part.wave < b.part.own_tiles()) {
    ColumnVectors vectors;
    if constexpr (kStep == SmallStep::embed)
      vectors = load_vectors(b, 0, SmallStep::reduce, b.part.wave);
    if constexpr (kStep == SmallStep::reduce)
      vectors = load_vectors(b, layer + 1, SmallStep::reduce, b.part.wave);
    await_others<B, kStep>(b, layer);
    if constexpr (kStep == SmallStep::embed) run_embed(b, vectors.weight);
    if constexpr (kStep == SmallStep::reduce) run_reduce(b, vectors.bias, vectors.weight);
    if constexpr (kStep == SmallStep::finish) run_finish(b);
  }
}

// The group's tokens and where its room is; false: there are none.
template <class B>
__device__ __forceinline__ bool find_rows(B& b, int group) {
  b.first_tile = 0;
  for (int s = 0, groups = 0; s < b.a.n_sequences; ++s) {
    const int begin = b.a.starts[s];
    b.length = b.a.starts[s + 1] - begin;
    const int n = (b.length + B::kRows - 1) / B::kRows;
    if (group < groups + n) {
      b.position = (group - groups) * B::kRows;
      b.token = begin + b.position;
      b.n_rows = b.length - b.position < B::kRows ? b.length - b.position : B::kRows;
      return true;
    }
    groups += n;
    b.first_tile = groups * B::kRowTiles;
  }
  return false;
}

template <class B>
__device__ __forceinline__ void copy_angles(const B& b) {
  const int head = b.part.shape.head;
  if (b.a.cos_sin == nullptr) return;
  for (int i = static_cast<int>(threadIdx.x); i < B::kRows * head; i += B::kThreads) {
    const int row = i / head < b.n_rows ? b.position + i / head : 0;
    b.angles[i] = b.a.cos_sin[row * head + i % head];
  }
}

// Every launch counts kTickets further, so that its blocks know its number.
constexpr std::uint32_t kTickets = 256;
__device__ __forceinline__ std::uint32_t draw_ticket(std::uint32_t* counter) {
  return atomicAdd(counter, blockIdx.x == 0 ? kTickets + 1 - gridDim.x : 1);
}
__device__ __forceinline__ std::uint32_t draw_epoch(std::uint32_t* counter, std::uint32_t* shared) {
  if (threadIdx.x == 0) *shared = draw_ticket(counter) / kTickets * kTickets;
  __syncthreads();
  return *shared;
}

// Steps [first, last] of the launch; more than one only where groups have a barrier.
template <int kWave, Number16 kType, class Known>
__global__ BIOGPU_LAUNCH_BOUNDS(kWave* kSmallWaves, 1) void small_encoder_kernel(SmallEncoderArgs a,
                                                                                 int first,
                                                                                 int last) {
  using B = SmallBlock<kWave, kType, Known>;
  BIOGPU_DYNAMIC_SHARED(std::uint8_t, shared);
  const SmallEncoderShape shape = Known::of(a.shape);
  const SmallRoom at = room_of(shape);
  const SmallDeviceRoom device = device_room_of(shape, a.n_groups);
  const int rank = static_cast<int>(blockIdx.x) % kGroup, n_steps = small_steps(shape);
  // The same for the whole wave, which the compiler learns from the shuffle.
  const int wave = wave_shuffle<kWave>(static_cast<int>(threadIdx.x) / kWave, 0);
  auto* const device_room = static_cast<std::uint8_t*>(a.room);
  std::uint8_t* const room =
      kHasAsyncCopies ? shared : device_room + device.rooms + blockIdx.x * std::int64_t{at.total};
  const auto floats = [&](int offset) { return reinterpret_cast<float*>(room + offset); };
  const auto numbers = [&](int offset) { return reinterpret_cast<std::uint16_t*>(room + offset); };
  auto* const counter = reinterpret_cast<std::uint32_t*>(device_room);
  B b{a,
      {shape, rank, wave},
      {rank, at.total},
      wave_lane<kWave>(),
      0,
      0,
      0,
      0,
      0,
      0,
      floats(at.x),
      numbers(at.y),
      numbers(at.mixed),
      numbers(at.q),
      floats(at.stats),
      floats(at.sums),
      floats(at.angles),
      reinterpret_cast<Arrival*>(shared + at.total + weights_bytes()) + kSmallWaves,
      reinterpret_cast<std::uint32_t*>(device_room + device.keys)};
  if (!find_rows(b, static_cast<int>(blockIdx.x) / kGroup)) {  // the whole group
    if (kHasAsyncCopies && threadIdx.x == 0) draw_ticket(counter);
    return;
  }
  WeightStream<B> weights(b, shared + at.total);
  if (kHasAsyncCopies) weights.start();
  if (kHasAsyncCopies && threadIdx.x == 0) {
    for (const SmallArrival kind : {kArrivalY, kArrivalMixed, kArrivalSums}) {
      init_arrival(b.arrivals + kind);
      expect_arrival(b.arrivals + kind, bytes_of(b, kind));
    }
  }
  if (kHasAsyncCopies) b.epoch = draw_epoch(counter, reinterpret_cast<std::uint32_t*>(b.sums));
  // Emulated, each step is a launch.
  const auto runs = [&](int step) { return kHasAsyncCopies || (first <= step && step <= last); };
  if (runs(0)) {
    copy_angles(b);
    for (int i = static_cast<int>(threadIdx.x); i < (at.sums - at.mixed) / 16; i += B::kThreads)
      reinterpret_cast<Bytes16*>(b.mixed)[i] = {};
    group_arrive();  // no block writes into another's room before that one is there
    group_wait();
    run_step<B, SmallStep::embed>(b, weights, 0);
  }
#pragma unroll 1
  for (int layer = 0; layer < shape.n_layers; ++layer) {
    const int step = 1 + layer * kStepsOfLayer;
    const auto run = [&](auto kind) {
      constexpr SmallStep kStep = static_cast<SmallStep>(decltype(kind)::value);
      const int number = step + decltype(kind)::value - 1;
      if (runs(number)) run_step<B, kStep>(b, weights, layer);
    };
    run(std::integral_constant<int, 1>());
    run(std::integral_constant<int, 2>());
    run(std::integral_constant<int, 3>());
    run(std::integral_constant<int, 4>());
    run(std::integral_constant<int, 5>());
    run(std::integral_constant<int, 6>());
  }
  if (runs(n_steps - 1)) run_step<B, SmallStep::finish>(b, weights, shape.n_layers);
}

template <int kWave, Number16 kType, class Known>
void launch_for(const SmallEncoderArgs& a, Stream& stream) {
  const auto kernel = small_encoder_kernel<kWave, kType, Known>;
  const auto n_blocks = static_cast<std::size_t>(a.n_groups * kGroup);
  const int n_steps = small_steps(a.shape);
  if (has_block_groups()) {
    launch_groups(stream, kernel, n_blocks, kWave * kSmallWaves,
                  static_cast<std::size_t>(shared_bytes(a.shape)), kGroup, a, 0, n_steps - 1);
    return;
  }
  for (int step = 0; step < n_steps; ++step)
    stream.launch(kernel, n_blocks, kWave * kSmallWaves, a, step, step);
}

using Esm8M = KnownShape<320, 20, 1280>;

// function(Known()) for the shape.
template <class Function>
void with_shape(const SmallEncoderShape& shape, Function&& function) {
  if constexpr (kImitatesBlockGroups) {  // tests take smaller ones
    if (!Esm8M::matches(shape))
      return shape.head <= 16 ? function(AnyShape<1>()) : function(AnyShape<2>());
  }
  function(Esm8M());
}

}  // namespace

bool suits_small_encoder(const SmallEncoderShape& shape, const Stream&) {
  if (has_block_groups()) return Esm8M::matches(shape);
  if (!kImitatesBlockGroups || shape.d == 0 || shape.d % 80 != 0) return false;
  if (shape.head % 8 != 0 || shape.head > 32 || shape.n_heads * shape.head != shape.d) return false;
  return shape.n_heads <= 4 * kGroup && SmallPart{shape}.mixed_tiles() % kBatch == 0 &&
         shape.d_feed % 16 == 0;
}

int small_groups(const SmallEncoderShape& shape, const Stream& stream) {
  if (!has_block_groups()) return kImitatesBlockGroups ? kMostGroups : 0;
  const auto bytes = static_cast<std::uint64_t>(shared_bytes(shape));
  if (bytes > device_properties(current_device()).shared_bytes_per_block) return 0;
  int n = 0;
  with_matrix_wave(stream.wave_width(), [&](auto wave) {
    with_shape(shape, [&](auto known) {
      n = most_groups(small_encoder_kernel<wave, Number16::fp16, decltype(known)>,
                      wave * kSmallWaves, bytes, kGroup);
    });
  });
  return n < kMostGroups ? n : kMostGroups;
}

std::size_t small_room_bytes(const SmallEncoderShape& shape, int n_groups) {
  return device_room_of(shape, n_groups).total;
}

void launch_small_encoder(const SmallEncoderArgs& a, Number16 type, Stream& stream) {
  if (a.n_groups == 0) return;
  with_matrix_wave(stream.wave_width(), [&](auto wave) {
    with_shape(a.shape, [&](auto known) {
      using Known = decltype(known);
      type == Number16::fp16 ? launch_for<wave, Number16::fp16, Known>(a, stream)
                             : launch_for<wave, Number16::bf16, Known>(a, stream);
    });
  });
}

}  // namespace biogpu::gpu::nn
