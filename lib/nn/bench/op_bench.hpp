#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lib/nn/bench.hpp"
#include "lib/nn/reference_ops.hpp"

// The operations of run_op_bench(); bench.hpp is what others see.
namespace biogpu::nn {

// A model's width and batch, as operations see them.
struct BenchShape {
  const char* name;
  std::int64_t n_sequences, length, d, n_heads;
  bool stream_of_operands = false;  // the residual stream has the operands' type
};

// Uniform numbers of [-size, size) from a 64-bit counter.
class BenchRandom {
 public:
  float next(float size) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return size * (static_cast<float>(state_ >> 40) * 0x1p-23f - 1.0f);
  }

 private:
  std::uint64_t state_ = 1;
};

class OpBench {
 public:
  OpBench(Backend& backend, OpBenchSettings settings)
      : backend_(backend), settings_(std::move(settings)), reference_(make_reference_backend()) {}

  std::vector<OpTiming> all();

 private:
  // The same numbers for the backend and, on the host, for the reference.
  struct Both {
    std::vector<float> values;
    Tensor host, device;
    std::int64_t width() const { return host.shape[static_cast<std::size_t>(host.rank) - 1]; }
    Tensor host_rows(std::int64_t first, std::int64_t n) const {
      return host.slice(0, first, first + n);
    }
  };

  // Numbers of [-size, size), rounded to the operands' type where they are operands.
  Both make(std::initializer_list<std::int64_t> shape, float size, bool operand);
  // Asked with the name that the row will have.
  bool wanted(const std::string& op);
  double time(const std::function<void()>& run);
  // Compares rows [0, n) of what the backend wrote with the reference's.
  double error(const Tensor& device, const Tensor& expected);
  void add(std::string op, std::string shape, double bytes, double operations, double its_error,
           const std::function<void()>& run);

  void run_shape();
  HostBatch make_batch() const;
  // The first rows of a batch for the reference.
  Batch host_batch(const HostBatch& whole, std::int64_t n_rows);

  void run_embed(const Batch& batch, const HostBatch& host);
  void run_norms();
  void run_log_softmax();
  void run_mean_pool(const Batch& batch);
  void run_products(const Batch& batch);
  void run_product(const char* name, std::int64_t n_in, std::int64_t n_out, Activation activation,
                   bool residual, const Batch* rotated);
  void run_attention(const Batch& batch, bool with_bias);

  static constexpr std::int64_t kRows = 16;   // that the reference computes of row operations
  static constexpr std::int64_t kWords = 33;  // of ESM-2's vocabulary

  Backend& backend_;
  const OpBenchSettings settings_;
  std::unique_ptr<Backend> reference_;
  BenchRandom random_;
  BenchShape shape_{};
  std::int64_t n_tokens_ = 0;
  std::vector<void*> memory_;
  std::vector<std::string> names_;  // that wanted() was asked for
  std::vector<OpTiming> results_;
};

}  // namespace biogpu::nn
