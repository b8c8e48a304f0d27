// Attention on Hopper beside the portable kernel on the same device, and beside sums in double
// precision on the host. Elsewhere it declines, and the portable kernel is compared.
#include <algorithm>

#include "gpu/ops/attention/attention_warpgroup.hpp"
#include "tests/unit/gpu/ops/warpgroup_support.hpp"

using namespace biogpu;
using gpu::Number16;
using test::to_device;
using test::to_host;

namespace {

constexpr int kHead = 64;
constexpr float kScale = 0.2f;

struct Shape {
  std::vector<std::int32_t> lengths;
  int n_heads = 0;
  int head_stride = kHead;
  int rows_beyond = 0;  // the last sequence
};

struct Result {
  std::vector<std::uint16_t> out;  // [rows, n_heads * kHead]
  std::vector<float> sums;         // [n_heads, rows]
};

// Queries, keys and values of a batch, and what comes out by either kernel and by the host.
// Whatever no kernel may read is NaN.
class Attention {
 public:
  Attention(const Shape& shape, Number16 type, gpu::Stream& stream)
      : shape_(shape), type_(type), stream_(stream) {
    for (const std::int32_t length : shape.lengths) starts_.push_back(starts_.back() + length);
    n_rows_ = static_cast<std::size_t>(starts_.back() + shape.rows_beyond);
    const auto width = static_cast<std::size_t>(shape.head_stride);
    stride_ = 3 * static_cast<std::size_t>(shape.n_heads) * width;
    bits_ = test::random_bits(n_rows_ * stride_, 1.5f, type, 6);
    for (std::size_t i = 0; i < bits_.size(); ++i) {
      if (i / stride_ >= n_tokens() || i % width >= kHead) bits_[i] = 0xffff;
    }
    qkv_ = to_device(bits_, stream);
  }

  std::size_t n_tokens() const { return static_cast<std::size_t>(starts_.back()); }
  std::size_t n_columns() const { return static_cast<std::size_t>(shape_.n_heads) * kHead; }
  std::vector<std::int32_t> starts() const { return starts_; }

  // starts: of sequences one after the other, all of them or some.
  Result run(const std::vector<std::int32_t>& starts, bool warpgroups) {
    auto out = to_device(std::vector<std::uint16_t>(n_rows_ * n_columns(), 0xffff), stream_);
    auto sums = to_device(
        std::vector<float>(static_cast<std::size_t>(shape_.n_heads) * n_rows_, -1), stream_);
    const auto list = gpu::ops::query_tiles(starts);
    const auto tiles = to_device(list, stream_);
    const auto n_tiles = to_device(std::vector{static_cast<std::int32_t>(list.size())}, stream_);
    const auto element = test::element_of(type_);
    gpu::ops::AttentionArgs args;
    args.q = rows(0);
    args.k = rows(1);
    args.v = rows(2);
    args.head_stride = args.key_head_stride = args.value_head_stride = shape_.head_stride;
    args.head = args.head_v = kHead;
    args.n_heads = shape_.n_heads;
    args.scale = kScale;
    args.out = {out.data(), static_cast<std::int64_t>(n_columns()), element};
    args.log_sum_exp = sums.data();
    args.log_sum_exp_stride = static_cast<std::int64_t>(n_rows_);
    args.tiles = tiles.data();
    args.n_tiles = n_tiles.data();
    args.n_rows = warpgroups ? static_cast<std::int64_t>(n_rows_) : 0;
    if (warpgroups) {
      REQUIRE(gpu::ops::launch_attention_warpgroup(args, stream_) == gpu::has_warpgroups());
    } else {
      gpu::ops::launch_attention(args, stream_);
    }
    return {to_host(out, stream_), to_host(sums, stream_)};
  }

  // The first, middle and last query of each sequence, the heads in turn.
  void check_host(const Result& result) const {
    double worst = 0, worst_sum = 0;
    for (std::size_t s = 0; s + 1 < starts_.size(); ++s) {
      const std::size_t begin = row_at(s), end = row_at(s + 1);
      for (const std::size_t query : {begin, (begin + end) / 2, end - 1}) {
        const std::size_t head = (s + query) % static_cast<std::size_t>(shape_.n_heads);
        std::vector<double> sums(kHead);
        const double log_sum_exp = attend(begin, end, query, head, sums);
        worst_sum = test::worse(worst_sum,
                                test::difference(log_sum_exp, result.sums[head * n_rows_ + query]));
        for (std::size_t c = 0; c < kHead; ++c) {
          const auto bits = result.out[query * n_columns() + head * kHead + c];
          worst = test::worse(worst, test::difference(sums[c], test::value_of(bits, type_)));
        }
      }
    }
    REQUIRE(worst < 4 * test::tolerance(type_));
    REQUIRE(worst_sum < 1e-4);
  }

 private:
  gpu::ops::Rows rows(std::size_t which) const {
    return {qkv_.data() + which * stride_ / 3, static_cast<std::int64_t>(stride_),
            test::element_of(type_)};
  }
  std::size_t row_at(std::size_t sequence) const {
    return static_cast<std::size_t>(starts_[sequence]);
  }
  double value(std::size_t row, std::size_t which, std::size_t head, std::size_t column) const {
    const auto in_row = which * stride_ / 3 + head * static_cast<std::size_t>(shape_.head_stride);
    return test::value_of(bits_[row * stride_ + in_row + column], type_);
  }

  // One query's sums of values; returns the logarithm of the sum of exponentials.
  double attend(std::size_t begin, std::size_t end, std::size_t query, std::size_t head,
                std::vector<double>& sums) const {
    std::vector<double> weights;
    for (std::size_t key = begin; key < end; ++key) {
      double score = 0;
      for (std::size_t c = 0; c < kHead; ++c)
        score += value(query, 0, head, c) * value(key, 1, head, c);
      weights.push_back(score * kScale);
    }
    const double top = *std::max_element(weights.begin(), weights.end());
    double total = 0;
    for (double& weight : weights) total += weight = std::exp(weight - top);
    for (std::size_t key = begin; key < end; ++key) {
      for (std::size_t c = 0; c < kHead; ++c)
        sums[c] += weights[key - begin] / total * value(key, 2, head, c);
    }
    return top + std::log(total);
  }

  Shape shape_;
  Number16 type_;
  gpu::Stream& stream_;
  std::vector<std::int32_t> starts_ = {0};
  std::size_t n_rows_ = 0, stride_ = 0;  // stride: of a row of queries, keys and values
  std::vector<std::uint16_t> bits_;
  gpu::DeviceBuffer<std::uint16_t> qkv_;
};

// Hopper's results beside the portable kernel's, and a sequence's alone beside those in the batch.
void check_warpgroup(Attention& attention, const Result& portable, Number16 type) {
  const std::vector<std::int32_t> starts = attention.starts();
  const Result got = attention.run(starts, true);
  const std::size_t n = attention.n_tokens() * attention.n_columns();
  std::vector<float> x, y;
  for (std::size_t i = 0; gpu::has_warpgroups() && i < n; ++i) {
    x.push_back(test::value_of(portable.out[i], type));
    y.push_back(test::value_of(got.out[i], type));
  }
  REQUIRE(std::all_of(got.out.begin() + static_cast<std::ptrdiff_t>(x.size()), got.out.end(),
                      [](std::uint16_t bits) { return bits == 0xffff; }));
  if (!gpu::has_warpgroups()) return;
  attention.check_host(got);
  REQUIRE(test::difference(x, y) < 4 * test::tolerance(type));
  REQUIRE(test::difference(portable.sums, got.sums) < 1e-4);
  const auto s = std::min<std::size_t>(7, starts.size() - 2);  // of many: one of several tiles
  const Result alone = attention.run({starts[s], starts[s + 1]}, true);
  for (auto i = static_cast<std::size_t>(starts[s]) * attention.n_columns();
       i < static_cast<std::size_t>(starts[s + 1]) * attention.n_columns(); ++i)
    REQUIRE(alone.out[i] == got.out[i]);
}

void check(const Shape& shape) {
  CAPTURE(shape.lengths.size(), shape.n_heads, shape.head_stride, shape.rows_beyond);
  gpu::Stream stream;
  for (const Number16 type : {Number16::fp16, Number16::bf16}) {
    Attention attention(shape, type, stream);
    const Result portable = attention.run(attention.starts(), false);
    attention.check_host(portable);
    check_warpgroup(attention, portable, type);
  }
}

// Around the steps of 64 keys and the tiles of 128 queries, and many short ones in a row.
std::vector<std::int32_t> many_lengths() {
  std::vector<std::int32_t> lengths = {1, 63, 64, 65, 127, 128, 129};
  const bool emulated = test::is_emulated();
  lengths.insert(lengths.end(), {emulated ? 257 : 300, emulated ? 330 : 700});
  for (int i = 0; i < (emulated ? 12 : 200); ++i) lengths.push_back(1 + i * 37 % 90);
  return lengths;
}

}  // namespace

TEST_CASE("ops.warpgroup: attention equals that of the portable kernel, alone and in a batch",
          "[ops][device]") {
  if (!test::has_gpu() || !gpu::has_warpgroups()) return;
  check({many_lengths(), 3, kHead, 40});
  check({many_lengths(), 3, kHead + 8, 40});  // heads that lie apart
  if (test::is_emulated()) return;            // two multiprocessors have had many items each
  check({many_lengths(), 12, kHead, 40});     // some ten items for each of two blocks a processor
}

TEST_CASE("ops.warpgroup: attention of one sequence, shorter than all that is copied",
          "[ops][device]") {
  if (!test::has_gpu()) return;
  check({{5}, 2, kHead + 8, 0});
  if (gpu::has_warpgroups()) check({{5}, 3, kHead, 0});
}
