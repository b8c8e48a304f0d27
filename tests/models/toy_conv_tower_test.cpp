// A model that only this file declares: a strided convolution tower over letters with a residual
// block, two kinds of pooling and skip connections back to the resolution before them. It shows
// what a model of regions of DNA needs of contexts, arenas and operations.
#include <array>

#include "lib/ops/convolution/conv1d.hpp"
#include "lib/ops/convolution/conv1d_letters.hpp"
#include "lib/ops/gather/repeat_rows.hpp"
#include "lib/ops/gemm/gemm.hpp"
#include "lib/ops/reduction/attention_pool.hpp"
#include "lib/ops/reduction/max_pool.hpp"
#include "lib/tensor/shortened_starts.hpp"
#include "tests/ops/op_bed.hpp"

using namespace biogpu;
using ops::Activation;
using tensor::Arena;
using tensor::Context;
using tensor::DType;
using tensor::Linear;
using tensor::Ragged;
using tensor::Tensor;
using test::Bed;
using test::Pair;

namespace {

constexpr std::int64_t kStem = 16, kWidth = 24, kTracks = 3, kTaps = 7;
constexpr std::size_t kResolutions = 4;  // letters, and each half as many rows as the one before

struct ToyWeights {
  Tensor table, bias;                                       // letters to kStem
  Tensor stem_scale, stem_shift, block_scale, block_shift;  // batch norms
  const Linear* strided;    // 5 taps of kStem to kWidth, every second row
  const Linear* pointwise;  // kWidth to kWidth, with a residual
  const Linear* pool;       // attention pooling
  const Linear* head;       // kWidth to kTracks
};

struct ToyBatch {
  Tensor letters;  // u8
  std::array<Ragged, kResolutions> rows;
};

ToyBatch upload(Context& context, Arena& arena, const std::vector<std::uint8_t>& letters,
                std::vector<std::int32_t> starts) {
  ToyBatch batch;
  batch.letters = arena.take(DType::u8, {static_cast<std::int64_t>(letters.size())});
  context.copy_in(batch.letters, letters.data());
  for (Ragged& rows : batch.rows) {
    rows = context.upload_ragged(starts, arena);
    starts = tensor::shortened_starts(starts, 2);
  }
  return batch;
}

// Tracks, f32 [rows of half the letters, kTracks].
Tensor forward(Context& context, Arena& arena, const ToyWeights& w, const ToyBatch& batch) {
  const auto& rows = batch.rows;
  const DType operand = context.compute_dtype();
  const auto n = [&](std::size_t resolution) { return rows[resolution].n_rows; };
  const Tensor tracks = arena.take(DType::f32, {n(1), kTracks});
  const Tensor fine = arena.take(DType::f32, {n(1), kWidth});    // kept over the first pooling
  const Tensor coarse = arena.take(DType::f32, {n(2), kWidth});  // and over the second
  {
    const auto scope = arena.scope();
    const Tensor stem = arena.take(operand, {n(0), kStem});
    ops::conv1d_letters(context, {batch.letters,
                                  w.table,
                                  w.bias,
                                  &rows[0],
                                  {},
                                  {w.stem_scale, w.stem_shift, Activation::gelu_sigmoid, stem}});
    const Tensor next = arena.take(operand, {n(1), kWidth});
    ops::conv1d(context, {stem,
                          w.strided,
                          5,
                          2,
                          &rows[0],
                          &rows[1],
                          {},
                          fine,
                          {w.block_scale, w.block_shift, Activation::gelu_sigmoid, next}});
    ops::conv1d(context, {next, w.pointwise, 1, 1, nullptr, nullptr, fine, fine, {}});
  }
  ops::max_pool(context, {fine, 2, &rows[1], &rows[2], coarse, {}});
  {
    const auto scope = arena.scope();
    const Tensor differences = arena.take(operand, {n(3), kWidth});
    const Tensor pooled = arena.take(DType::f32, {n(3), kWidth});
    ops::attention_pool(context, {coarse, w.pool, &rows[2], &rows[3], differences, pooled, {}});
    ops::repeat_rows(context, {pooled, 2, &rows[3], &rows[2], coarse, coarse, {}});
  }
  const Tensor next = arena.take(operand, {n(1), kWidth});
  ops::repeat_rows(context,
                   {coarse, 2, &rows[2], &rows[1], fine, {}, {{}, {}, Activation::relu, next}});
  ops::gemm(context, {next, w.head, Activation::softplus, {}, tracks});
  return tracks;
}

// Upload and pass, in an arena of the size that a dry run measures.
std::vector<float> run(Context& context, const ToyWeights& weights,
                       const std::vector<std::uint8_t>& letters,
                       const std::vector<std::int32_t>& starts) {
  const auto dry = tensor::make_dry_run_context(context.precision());
  Arena measured = Arena::measuring();
  forward(*dry, measured, weights, upload(*dry, measured, letters, starts));
  void* const memory = context.allocate(measured.peak_bytes());
  Arena arena(memory, measured.peak_bytes());
  const Tensor tracks = forward(context, arena, weights, upload(context, arena, letters, starts));
  std::vector<float> got(static_cast<std::size_t>(tracks.size()));
  context.copy_out(got.data(), tracks);
  context.synchronize();
  CHECK(arena.peak_bytes() == measured.peak_bytes());
  context.release(memory);
  return got;
}

// Random weights on both sides; none is zero or neutral.
class Toy {
 public:
  explicit Toy(Bed& bed)
      : table_(bed.pair({kTaps, ops::kLetterCodes, kStem},
                        ops::letter_table(bed.random({kStem, 4, kTaps}, 0.6f, false).host), false)),
        bias_(bed.random({kStem}, 0.5f, false)),
        stem_scale_(bed.random({kStem}, 1, false)),
        stem_shift_(bed.random({kStem}, 0.5f, false)),
        block_scale_(bed.random({kWidth}, 1, false)),
        block_shift_(bed.random({kWidth}, 0.5f, false)),
        strided_(bed.linear(kWidth, 5 * kStem)),
        pointwise_(bed.linear(kWidth, kWidth)),
        head_(bed.linear(kTracks, kWidth)),
        pool_(bed.random({kWidth, kWidth}, 0.4f, true)),
        host_pool_(bed.reference().upload_linear(pool_.host, {})),
        device_pool_(bed.device().upload_linear(pool_.host, {})) {}

  ToyWeights host() const {
    return of([](const Pair& p) { return p.host; }, [](const auto& l) { return &l.host; },
              &host_pool_);
  }
  ToyWeights device() const {
    return of([](const Pair& p) { return p.device; }, [](const auto& l) { return &l.device; },
              &device_pool_);
  }

 private:
  template <class View, class Map>
  ToyWeights of(const View& view, const Map& map, const Linear* pool) const {
    return {view(table_),      view(bias_),        view(stem_scale_),
            view(stem_shift_), view(block_scale_), view(block_shift_),
            map(strided_),     map(pointwise_),    pool,
            map(head_)};
  }
  Pair table_, bias_, stem_scale_, stem_shift_, block_scale_, block_shift_;
  test::LinearPair strided_, pointwise_, head_;
  Pair pool_;
  Linear host_pool_, device_pool_;
};

std::vector<std::uint8_t> make_letters(std::size_t n) {
  std::vector<std::uint8_t> letters(n);
  for (std::size_t i = 0; i < n; ++i) letters[i] = static_cast<std::uint8_t>(i * i * 7 / 3 % 5);
  return letters;
}

}  // namespace

TEST_CASE("models.toy_conv_tower: as the reference, alone and in a batch", "[models]") {
  Bed bed(GENERATE(from_range(test::subjects())));
  const Toy toy(bed);
  const std::vector<std::uint8_t> letters = make_letters(150);
  const std::vector<std::int32_t> starts{0, 61, 62, 150};  // odd, one letter, even
  const std::vector<float> right = run(bed.reference(), toy.host(), letters, starts);
  const std::vector<float> got = run(bed.device(), toy.device(), letters, starts);
  REQUIRE(got.size() == right.size());
  double largest = 0, apart = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    largest = std::max(largest, std::fabs(static_cast<double>(right[i])));
    apart = test::worse_of(apart, std::fabs(static_cast<double>(got[i]) - right[i]));
  }
  CHECK(largest > 0.5);
  CHECK(apart < (bed.is_cpu() ? 1e-5 : 10 * bed.operand_bound()) * largest);
  const std::vector<float> alone =
      run(bed.device(), toy.device(), {letters.begin() + 62, letters.end()}, {0, 88});
  CHECK(alone == std::vector<float>(got.end() - 44 * kTracks, got.end()));
}
