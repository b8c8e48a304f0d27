#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lib/ops/bench/bench.hpp"
#include "lib/ops/declare.hpp"
#include "lib/ops/reference_context.hpp"
#include "lib/tensor/context.hpp"

// What the benches of operations (lib/ops/FAMILY/FAMILY_bench.cpp) are written with;
// lib/ops/bench/bench.hpp is what others see.
namespace biogpu::ops {

// A model's width and batch, as operations see them.
struct BenchShape {
  const char* name;
  std::int64_t n_segments, length, d, n_heads;
  bool stream_of_operands = false;  // the residual stream has the operands' type
  std::int64_t n_rows() const { return n_segments * length; }
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

// The same numbers for the context under test and, on the host, for the reference.
struct BenchTensor {
  std::vector<float> values;
  Tensor host, device;
  std::int64_t width() const { return host.shape[static_cast<std::size_t>(host.rank) - 1]; }
  Tensor host_rows(std::int64_t n) const { return host.slice(0, 0, n); }
};

// Rows of integers below n, likewise.
struct BenchIndices {
  std::vector<std::int32_t> values;
  Tensor host, device;  // i32 [T]
};

class OpBench {
 public:
  static constexpr std::int64_t kRows = 16;    // that the reference computes of row operations
  static constexpr std::int64_t kTokens = 33;  // of ESM-2's vocabulary

  OpBench(tensor::Context& context, OpBenchSettings settings, ModelBenches of_models);
  std::vector<OpTiming> all();

  // For the benches of operations.
  tensor::Context& context() { return context_; }
  tensor::Context& reference() { return *reference_; }
  const BenchShape& shape() const { return shape_; }
  const Ragged& segments() const { return segments_; }
  double operand_bytes() const;
  // Numbers of [-size, size), rounded to the operands' type where they are operands.
  BenchTensor make(std::initializer_list<std::int64_t> shape, float size, bool operand);
  // i * 7 % n for i of 0..count.
  BenchIndices make_indices(std::int64_t count, std::int64_t n);
  // The first n rows of the first segment, for the reference.
  static Ragged one_segment(std::int64_t n);
  // The segments of the shape, each `factor` times shorter, rounded up.
  Ragged shortened(std::int32_t factor);
  // Whether the settings ask for it; asked with the name that the row will have.
  bool wanted(const std::string& op);
  // Compares rows [0, n) of what the context wrote with the reference's.
  double error(const Tensor& device, const Tensor& expected);
  // Times an operation whose result was off by its_error.
  void add(std::string op, std::string shape, double bytes, double operations, double its_error,
           const std::function<void()>& run);

 private:
  double time(const std::function<void()>& run);
  void run_shape();
  Ragged upload_segments(const std::vector<std::int32_t>& starts);

  tensor::Context& context_;
  const OpBenchSettings settings_;
  const ModelBenches of_models_;
  std::unique_ptr<tensor::Context> reference_;
  BenchRandom random_;
  BenchShape shape_{};
  Ragged segments_;
  std::vector<void*> memory_;
  std::vector<std::string> names_;  // that wanted() was asked for
  std::vector<OpTiming> results_;
};

}  // namespace biogpu::ops
