// An encoder in one launch, for batches whose products are too small to fill the device.
//
// Shapes   see encoder_8m.hpp.
// Mapping  groups of kGroup blocks take 16 tokens of one sequence through all layers. A block
//          computes some heads, some columns of the residual stream, which it keeps, and some
//          hidden columns with their part of the sum of the product down; what others need it
//          writes into their shared memory. Only keys and values cross groups: each wave posts the
//          tile that it made, and waits for the tiles that it reads.
// Traffic  all weights once a group, from L2: 2.5 MB a layer of ESM-2 8M. They depend on
//          nothing, so those of the next step are on their way into shared memory, and a wave
//          reads what it begins with into registers before it waits for the others.
//          What is left is latency: four waits for the group and one for other groups' keys a
//          layer.
// Result   sums over k in ascending steps of 16 inside a part, parts in ascending order:
//          independent of the batch; not the same bytes as gemm.hip and attention.hip. The
//          normalisation in front of a product is worked into it: operands are x times the norm's
//          weight, mean and deviation come in behind the sum.
// Limits   suits_encoder_8m(); kMaxGroups groups; as many as run at the same time.
// Source   own. Moments of parts: Chan, Golub and LeVeque 1979.
// Oracle   make_reference_context, lib/ops/reference_context.hpp.
#include "gpu/models/esm2/encoder_8m.hpp"

#include "gpu/models/esm2/encoder_8m_product.hpp"

namespace biogpu::gpu::esm2 {
namespace {

// One step of a layer: what it begins with, the wait for the others, its work.
template <class B, EncoderStep kStep>
__device__ __forceinline__ void run_step(const B& b, WeightStream<B>& weights, int layer) {
  if constexpr (kStep == EncoderStep::qkv || kStep == EncoderStep::up) {
    run_pairs<B, kStep>(b, weights, layer);
  } else if constexpr (kStep == EncoderStep::projection) {
    run_projection(b, weights, layer);
  } else if constexpr (kStep == EncoderStep::down) {
    run_down(b, weights, layer);
  } else if constexpr (kStep == EncoderStep::attend) {
    await_others<B, kStep>(b, layer);
    run_attend(b, layer);
  } else if constexpr (kStep == EncoderStep::reduce) {
    if (!B::kGrouped && b.part.keeps_tile()) reduce_kept(b, layer, [] {});
  } else if (b.part.keeps_tile()) {
    const int column = 16 * b.part.own_tile(b.part.kept_tile()) + b.lane % 16;
    const float bias = b.a.norm_bias[column], weight = b.a.norm_weight[column];
    await_others<B, kStep>(b, layer);
    run_finish(b, bias, weight);
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

// Every launch counts kTickets further, so that its blocks know its number.
constexpr std::uint32_t kTickets = 256;

// What is in front of the layers, much of it under way before the first wait: the launch's number,
// weights, what is embedded. False where the group has no rows.
template <class B>
__device__ __forceinline__ bool begin_launch(B& b, WeightStream<B>& weights, std::uint32_t* counter,
                                             bool embeds) {
  const bool draws = B::kGrouped && threadIdx.x + 1 == blockDim.x;
  std::uint32_t ticket = 0;
  if (draws) ticket = atomicAdd(counter, blockIdx.x == 0 ? kTickets + 1 - gridDim.x : 1);
  const bool has_rows = find_rows(b, static_cast<int>(blockIdx.x) / kGroup);  // the whole group
  if (!B::kGrouped && !has_rows) return false;
  const EncoderRoom at = room_of(b.part.shape);
  const bool keeps = embeds && b.part.keeps_tile();
  TileSum<B::kWave> embedded[B::kRowTiles];
  ColumnVectors vectors;
  // First what takes longest.
  if (has_rows && keeps) {
    vectors = load_vectors(b, 0, EncoderStep::reduce, b.part.kept_tile());
    load_embedded(b, embedded);
  }
  if (B::kGrouped && has_rows) {
    weights.init();
    if (b.part.wave == 0 && one_lane<B::kWave>()) {
      for (const EncoderArrival kind : {kArrivalY, kArrivalMixed, kArrivalSums}) {
        init_arrival(b.arrivals + kind, kind == kArrivalY ? b.part.own_tiles() : 0);
        expect_arrival(b.arrivals + kind, bytes_of(b, kind));
      }
    }
    init_arrivals_done();
    wave_sync<B::kWave>();
    group_arrive();  // no block writes into another's room before that one is there
  }
  if (has_rows && embeds) {
    copy_angles(b);
    for (int i = static_cast<int>(threadIdx.x); i < (at.sums - at.mixed) / 16; i += B::kThreads)
      reinterpret_cast<Bytes16*>(b.mixed)[i] = {};
  }
  std::uint32_t* before = nullptr;
  if (B::kGrouped) {
    // No wave uses that place before all have met again.
    auto* const shared_ticket = reinterpret_cast<std::uint32_t*>(b.halves);
    if (draws) *shared_ticket = ticket;
    __syncthreads();
    const std::uint32_t launch = *shared_ticket / kTickets;
    const int n = key_tiles(b.part.shape) * B::kTileWords;
    before = b.keys + (launch + 1) % kKeySets * n;
    b.keys += launch % kKeySets * n;
    if (has_rows) {
      weights.bring_qkv(0);  // not before, or what is embedded would wait behind them
      group_wait();
    }
  }
  if (has_rows && keeps) share_embedded(b, vectors.weight, embedded);
  if (B::kGrouped) clear_keys_of_launch(b, before);
  return has_rows;
}

// Steps [first, last] of the encoder; blocks in groups run all of them.
template <int kWave, Number16 kType, class Known, bool kGrouped>
__global__ BIOGPU_LAUNCH_BOUNDS(kWave* kEncoderWaves,
                                1) void encoder_8m_kernel(Encoder8mArgs a, int first, int last) {
  using B = Encoder8mBlock<kWave, kType, Known, kGrouped>;
  BIOGPU_DYNAMIC_SHARED(std::uint8_t, shared);
  const Encoder8mShape shape = Known::of(a.shape);
  const EncoderRoom at = room_of(shape);
  const EncoderDeviceRoom device = device_room_of(shape, a.n_groups, kGrouped);
  const int rank = static_cast<int>(blockIdx.x) % kGroup, n_steps = encoder_steps(shape);
  // The same for the whole wave, which the compiler learns from the shuffle.
  const int wave = wave_shuffle<kWave>(static_cast<int>(threadIdx.x) / kWave, 0);
  auto* const device_room = static_cast<std::uint8_t*>(a.room);
  std::uint8_t* const room =
      kGrouped ? shared : device_room + device.rooms + blockIdx.x * std::int64_t{at.total};
  const auto floats = [&](int offset) { return reinterpret_cast<float*>(room + offset); };
  const auto numbers = [&](int offset) { return reinterpret_cast<std::uint16_t*>(room + offset); };
  auto* const counter = reinterpret_cast<std::uint32_t*>(device_room);
  B b{a,
      {shape, rank, wave},
      EncoderRole::of<kWave>({shape, rank, wave}),
      {rank, at.total},
      wave_lane<kWave>(),
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
      floats(at.norms),
      floats(at.sums),
      floats(at.halves),
      floats(at.angles),
      reinterpret_cast<Arrival*>(shared + at.total + kWeightsBytes) + 2 * kEncoderWaves,
      reinterpret_cast<std::uint32_t*>(device_room + device.keys)};
  const auto runs = [&](int step) { return kGrouped || (first <= step && step <= last); };
  WeightStream<B> weights(b, shared + at.total);
  if (!begin_launch(b, weights, counter, runs(0))) return;
#pragma unroll 1
  for (int layer = 0; layer < shape.n_layers; ++layer) {
    const int step = 1 + layer * kStepsOfLayer;
    const auto run = [&](auto kind) {
      constexpr EncoderStep kStep = static_cast<EncoderStep>(decltype(kind)::value);
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
  if (runs(n_steps - 1)) run_step<B, EncoderStep::finish>(b, weights, shape.n_layers);
}

template <int kWave, Number16 kType, class Known, bool kGrouped>
void launch_for(const Encoder8mArgs& a, Stream& stream) {
  const auto kernel = encoder_8m_kernel<kWave, kType, Known, kGrouped>;
  const auto n_blocks = static_cast<std::size_t>(a.n_groups * kGroup);
  const int n_steps = encoder_steps(a.shape);
  if constexpr (kGrouped) {
    launch_groups(stream, kernel, n_blocks, kWave * kEncoderWaves,
                  static_cast<std::size_t>(shared_bytes(a.shape)), kGroup, a, 0, n_steps - 1);
  } else {
    for (int step = 0; step < n_steps; ++step)
      stream.launch(kernel, n_blocks, kWave * kEncoderWaves, a, step, step);
  }
}

using Esm8M = KnownShape<320, 20, 1280>;

// function(Known(), grouped) for the shape and the device.
template <class Function>
void with_form(const Encoder8mShape& shape, Function&& function) {
  if constexpr (kCompilesBlockGroups) {
    if (has_block_groups()) return function(Esm8M(), std::true_type());
  }
  if constexpr (kImitatesBlockGroups) {  // tests take smaller ones, too
    if (Esm8M::matches(shape)) return function(Esm8M(), std::false_type());
    shape.head <= 16 ? function(AnyShape<1>(), std::false_type())
                     : function(AnyShape<2>(), std::false_type());
  }
}

}  // namespace

bool suits_encoder_8m(const Encoder8mShape& shape, const Stream&) {
  if (has_block_groups()) return Esm8M::matches(shape);
  if (!kImitatesBlockGroups || shape.d == 0 || shape.d % 80 != 0) return false;
  if (shape.head % 8 != 0 || shape.head > 32 || shape.n_heads * shape.head != shape.d) return false;
  return shape.n_heads <= 4 * kGroup && EncoderPart{shape}.mixed_tiles() % kBatch == 0 &&
         shape.d_ffn % 16 == 0;
}

int encoder_groups(const Encoder8mShape& shape, const Stream& stream) {
  if (!has_block_groups()) return kImitatesBlockGroups ? kMaxGroups : 0;
  const auto bytes = static_cast<std::uint64_t>(shared_bytes(shape));
  if (bytes > device_properties(current_device()).shared_bytes_per_block) return 0;
  int n = 0;
  with_matrix_wave(stream.wave_width(), [&](auto wave) {
    with_form(shape, [&](auto known, auto grouped) {
      n = max_groups(encoder_8m_kernel<wave, Number16::fp16, decltype(known), grouped>,
                     wave * kEncoderWaves, bytes, kGroup);
    });
  });
  return n < kMaxGroups ? n : kMaxGroups;
}

void clear_small_room(void* room, std::size_t bytes, Stream& stream) {
  const std::size_t counter = device_room_of({}, 0, true).keys;
  stream.fill(room, 0, counter);
  stream.fill(static_cast<std::uint8_t*>(room) + counter, kAbsentWord & 0xff, bytes - counter);
}

std::size_t encoder_room_bytes(const Encoder8mShape& shape, int n_groups) {
  return device_room_of(shape, n_groups, has_block_groups()).total;
}

void launch_encoder_8m(const Encoder8mArgs& a, Number16 type, Stream& stream) {
  if (a.n_groups == 0) return;
  with_matrix_wave(stream.wave_width(), [&](auto wave) {
    with_form(a.shape, [&](auto known, auto grouped) {
      using Known = decltype(known);
      type == Number16::fp16 ? launch_for<wave, Number16::fp16, Known, grouped>(a, stream)
                             : launch_for<wave, Number16::bf16, Known, grouped>(a, stream);
    });
  });
}

}  // namespace biogpu::gpu::esm2
