#pragma once

#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <cstdint>
#include <memory>

#include "lib/core/aligned_buffer.hpp"
#include "lib/tensor/host_context.hpp"

namespace biogpu::ops {

// Memory of one thread, kept between calls, aligned to 64 bytes.
class Scratch {
 public:
  float* reserve(std::int64_t n) { return memory_.get<float>(static_cast<std::size_t>(n)); }

 private:
  AlignedBuffer memory_;
};

// Threads of oneTBB, SIMD of Highway.
class CpuContext final : public tensor::HostContext {
 public:
  explicit CpuContext(int n_threads) : arena_(n_threads > 0 ? n_threads : 1) {}

  Kind kind() const override { return Kind::cpu; }
  std::string name() const override { return "cpu"; }
  tensor::Linear upload_linear(const tensor::Tensor& weight, const tensor::Tensor& bias) override;

  // For operations: body(i) for i of 0..n, and body(begin, end) for ranges of rows, by all threads.
  template <class Body>
  void for_each(std::int64_t n, const Body& body) {
    arena_.execute([&] { tbb::parallel_for(std::int64_t{0}, n, body, tbb::simple_partitioner()); });
  }
  template <class Body>
  void for_rows(std::int64_t n, const Body& body) {
    constexpr std::int64_t kRowsPerTask = 16;  // of operations that are bound by memory
    arena_.execute([&] {
      tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, n, kRowsPerTask),
                        [&](const auto& range) { body(range.begin(), range.end()); });
    });
  }
  template <class Body>
  void execute(const Body& body) {
    arena_.execute(body);
  }
  int n_threads() const { return arena_.max_concurrency(); }
  // Of the calling thread, inside one of the above.
  Scratch& scratch() { return scratch_.local(); }

 private:
  tbb::task_arena arena_;
  tbb::enumerable_thread_specific<Scratch> scratch_;
};

std::unique_ptr<tensor::Context> make_cpu_context(int n_threads);

}  // namespace biogpu::ops
