#pragma once

#include <cstdint>
#include <vector>

#include "gpu/nn/attention.hpp"
#include "gpu/nn/gemm.hpp"
#include "gpu/nn/layer_norm.hpp"
#include "gpu/rt/buffer.hpp"
#include "gpu/rt/stream.hpp"

namespace biogpu::gpu {
struct GridBarrier;
}

namespace biogpu::gpu::nn {

// Operations one after the other, for batches so small that starting a kernel costs more than
// running it: one kernel runs them all, with a barrier of the whole device between two of them.

// How a block divides a product: tiles_down x tiles_across tiles of 16 x 16, each summed by
// `shares` waves over parts of k; `chunk` columns of both operands lie in shared memory at once.
struct ProductPlan {
  std::int32_t tiles_down = 1, tiles_across = 1, shares = 1;
  std::int32_t chunk = 0;
  std::int32_t n_down = 0, n_across = 0;  // blocks' tiles of the whole product
};

enum class StageKind : std::int32_t { rows, product, attention };

struct Stage {
  StageKind kind = StageKind::rows;
  // The rows of a normalisation, or of the one that makes the left operand of the product.
  LayerNormArgs rows;
  bool normalises = false;  // product: its left operand is rows.out_operand, never stored
  GemmArgs product;
  ProductPlan plan;
  AttentionArgs attention;
};

// The steps of a pass as they are queued, and what runs them.
class Program {
 public:
  explicit Program(Number16 type) : type_(type) {}

  // Each returns false where the operation does not fit a program; then the program is of no use.
  bool add_rows(const LayerNormArgs& args);
  bool add_product(const GemmArgs& args);
  bool add_attention(const AttentionArgs& args, std::int64_t max_length);

  // Fuses what can be, chooses tiles, copies the steps to the device. max_shared_bytes: of a block.
  // False where a step does not fit.
  bool finish(std::size_t max_shared_bytes, Stream& stream);
  void run(Stream& stream) const;

  std::size_t n_stages() const { return stages_.size(); }

 private:
  bool is_read_later(std::size_t i, const void* operand) const;
  void fuse_normalisations();
  bool plan_product(Stage& stage, int n_blocks, int n_waves, std::size_t shared_bytes) const;

  Number16 type_;
  std::vector<Stage> stages_;
  int head_ = 16;  // the padded size of attention's heads
  std::int64_t key_rows_ = 0;
  std::size_t shared_bytes_ = 0;
  DeviceBuffer<Stage> device_stages_;
  DeviceBuffer<std::uint64_t> barrier_;  // of one GridBarrier
};

// The longest sequence whose keys and values a block of a program keeps.
inline constexpr std::int64_t kProgramLength = 512;

// Whether launch_program() takes all stages at once: not on the emulated platform, whose blocks run
// one after another.
extern const bool kProgramRunsAtOnce;

// Runs stages [first, last) with all blocks; head: 16, 32 or 64.
void launch_program(const Stage* stages, int first, int last, int head, Number16 type,
                    std::size_t shared_bytes, GridBarrier* barrier, Stream& stream);
inline constexpr int kProgramThreads = 512;
inline constexpr std::size_t kProgramStageBytes = 2048;  // of shared memory, for two steps

}  // namespace biogpu::gpu::nn
