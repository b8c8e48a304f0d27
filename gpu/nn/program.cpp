// Chooses how the steps of a program are divided among blocks.
#include "gpu/nn/program.hpp"

#include <algorithm>
#include <utility>

namespace biogpu::gpu::nn {
namespace {

// A tile of sums a wave, and the steps themselves.
constexpr std::size_t kReductionBytes = kProgramThreads / 32 * 1024 + kProgramStageBytes;
constexpr std::int64_t kStep = 64;  // queries of a block and keys that lie in memory together
// Above, every block reads so many weights that tiles of a kernel's own size win: ProtBERT's
// largest matrix has four times as many.
constexpr std::int64_t kMostWeights = 1 << 20;
constexpr std::int64_t kWidest = 1280;  // of rows that a wave keeps

int ceil_divide(int n, int by) { return (n + by - 1) / by; }

}  // namespace

bool Program::add_rows(const LayerNormArgs& args) {
  if (args.d > kWidest) return false;
  Stage stage;
  stage.kind = StageKind::rows;
  stage.rows = args;
  stages_.push_back(stage);
  return true;
}

bool Program::add_product(const GemmArgs& args) {
  Stage stage;
  stage.kind = StageKind::product;
  stage.product = args;
  stages_.push_back(stage);
  const bool small = std::int64_t{args.n} * args.k <= kMostWeights;
  return small && (args.epilogue.cos_sin == nullptr || args.epilogue.head == 16);
}

bool Program::add_attention(const AttentionArgs& args, std::int64_t max_length) {
  if (args.head > 64 || max_length > kProgramLength || args.bias.data != nullptr ||
      args.q.type == Element::f32)
    return false;
  head_ = args.head <= 16 ? 16 : args.head <= 32 ? 32 : 64;
  key_rows_ = std::max(key_rows_, (max_length + kStep - 1) / kStep * kStep);
  Stage stage;
  stage.kind = StageKind::attention;
  stage.attention = args;
  stages_.push_back(stage);
  return true;
}

bool Program::plan_product(Stage& stage, int n_blocks, int n_waves,
                           std::size_t shared_bytes) const {
  const GemmArgs& product = stage.product;
  const int rotated = product.epilogue.cos_sin != nullptr ? product.epilogue.head / 16 : 1;
  double least = 0;
  for (const int down : {1, 2, 4}) {
    for (const int across : {1, 2, 3, 4, 5, 8}) {
      if (down * across > n_waves || across % rotated != 0) continue;
      ProductPlan plan;
      plan.tiles_down = down;
      plan.tiles_across = across;
      plan.shares = n_waves / (down * across);
      plan.n_down = ceil_divide(product.m, 16 * down);
      plan.n_across = ceil_divide(product.n, 16 * across);
      const auto row_bytes = static_cast<std::size_t>(16 * (down + across)) * 2;
      const int room = static_cast<int>(shared_bytes / row_bytes) / 16 * 16 - 16;
      if (room < 16 || (stage.normalises && room < product.k)) continue;
      const int n_chunks = ceil_divide(product.k, room);
      plan.chunk = ceil_divide(ceil_divide(product.k, n_chunks), 16) * 16;
      // Bytes that the busiest block reads and steps that its waves take, both in about ns.
      const int rounds = ceil_divide(plan.n_down * plan.n_across, n_blocks);
      const double copies = 2.0 * product.k * 16 * (down + across) / 100;
      const double steps = 25.0 * ceil_divide(product.k, 16 * plan.shares);
      const double cost = rounds * (copies + steps + 300 + (stage.normalises ? 100 * down : 0));
      if (least == 0 || cost < least) {
        least = cost;
        stage.plan = plan;
      }
    }
  }
  return least > 0;
}

// Whether a product after stage i, before the operand is made again, reads it too.
bool Program::is_read_later(std::size_t i, const void* operand) const {
  for (std::size_t j = i; j < stages_.size(); ++j) {
    const Stage& stage = stages_[j];
    if (stage.kind == StageKind::product && stage.product.a == operand) return true;
    if (stage.kind == StageKind::rows && stage.rows.out_operand.data == operand) return false;
  }
  return false;
}

// A normalisation that only makes the next product's operand becomes part of that product.
void Program::fuse_normalisations() {
  std::vector<Stage> fused;
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    const Stage& stage = stages_[i];
    const LayerNormArgs rows = stage.rows;
    const bool only_operand = stage.kind == StageKind::rows && rows.ids == nullptr &&
                              rows.weight != nullptr && rows.sum.data == nullptr &&
                              rows.out.data == nullptr && i + 1 < stages_.size() &&
                              stages_[i + 1].kind == StageKind::product &&
                              stages_[i + 1].product.a == rows.out_operand.data;
    fused.push_back(stage);
    if (!only_operand || is_read_later(i + 2, rows.out_operand.data)) continue;
    fused.back() = stages_[++i];
    fused.back().rows = rows;
    fused.back().normalises = true;
  }
  stages_ = std::move(fused);
}

bool Program::finish(std::size_t max_shared_bytes, Stream& stream) {
  fuse_normalisations();
  const std::size_t largest = std::min<std::size_t>(max_shared_bytes, 220u << 10);
  shared_bytes_ = largest;
  if (largest < kReductionBytes + 4096) return false;
  const int n_waves = kProgramThreads / stream.wave_width();
  for (Stage& stage : stages_) {
    if (stage.kind == StageKind::product &&
        !plan_product(stage, stream.n_multiprocessors(), n_waves, largest - kReductionBytes))
      return false;
    if (stage.kind == StageKind::attention) {
      const auto rows = static_cast<std::size_t>(kStep + 2 * key_rows_);
      if (rows * static_cast<std::size_t>(head_ + 8) * 2 > largest - kReductionBytes) return false;
    }
  }
  device_stages_.reserve(stages_.size());
  stream.copy_to_device(device_stages_.data(), stages_.data(), stages_.size() * sizeof(Stage));
  barrier_.reserve(1);
  stream.fill(barrier_.data(), 0, barrier_.bytes());
  stream.synchronize();
  return true;
}

void Program::run(Stream& stream) const {
  const int n = static_cast<int>(stages_.size());
  const int step = kProgramRunsAtOnce ? n : 1;
  for (int first = 0; first < n; first += step)
    launch_program(device_stages_.data(), first, first + step, head_, type_, shared_bytes_,
                   reinterpret_cast<GridBarrier*>(barrier_.data()), stream);
}

}  // namespace biogpu::gpu::nn
