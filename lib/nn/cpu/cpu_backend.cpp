#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "lib/nn/cpu/kernels.hpp"
#include "lib/nn/host_backend.hpp"

namespace biogpu::nn {
namespace {

// Rows of a product that one thread takes at a time: whole tiles of 14, and enough that a
// panel which comes from memory is worth its way.
constexpr std::int64_t kRowBlock = 140;
constexpr std::int64_t kRowsPerTask = 16;  // of operations that are bound by memory

// Memory of one thread, kept between calls.
class Scratch {
 public:
  float* reserve(std::int64_t n) {
    if (n > size_) {
      memory_.reset();
      size_ = 0;
      const auto bytes = (static_cast<std::size_t>(n) * sizeof(float) + 63) / 64 * 64;
      memory_.reset(static_cast<float*>(std::aligned_alloc(64, bytes)));
      if (memory_ == nullptr) throw std::bad_alloc();
      size_ = n;
    }
    return memory_.get();
  }

 private:
  struct Free {
    void operator()(float* memory) const { std::free(memory); }
  };
  std::unique_ptr<float, Free> memory_;
  std::int64_t size_ = 0;
};

class CpuBackend final : public HostBackend {
 public:
  explicit CpuBackend(const BackendOptions& options) : arena_(std::max(1, options.n_threads)) {}

  std::string name() const override { return "cpu"; }

  Linear upload_linear(const Tensor& weight, const Tensor& bias) override {
    Linear linear;
    linear.n_out = weight.shape[0];
    linear.n_in = weight.shape[1];
    auto* const packed = static_cast<float*>(allocate(
        static_cast<std::size_t>(cpu::packed_size(linear.n_out, linear.n_in)) * sizeof(float)));
    for_each(cpu::count_panels(linear.n_out),
             [&](std::int64_t panel) { cpu::pack_panel(weight, panel, packed); });
    linear.packed = packed;
    if (!bias.empty()) linear.bias = upload(bias, DType::f32);
    return linear;
  }

  void embed(const Embed& op, const Batch& batch) override {
    for_rows(batch.starts.back(),
             [&](std::int64_t begin, std::int64_t end) { cpu::embed_rows(op, batch, begin, end); });
  }

  void add_layer_norm(const AddLayerNorm& op) override {
    for_rows(op.x.shape[0], [&](std::int64_t begin, std::int64_t end) {
      cpu::add_layer_norm_rows(op, begin, end);
    });
  }

  void gemm(const Gemm& op) override { multiply(op); }

  void qkv_rotary(const QkvRotary& op, const Batch& batch) override {
    gemm({op.x, op.linear, Activation::none, {}, op.qkv});
    if (op.rotary.cos_sin.empty()) return;
    for_rows(batch.starts.back(), [&](std::int64_t begin, std::int64_t end) {
      cpu::rotate_rows(op, batch, begin, end);
    });
  }

  void attention(const Attention& op, const Batch& batch) override {
    // Longest first, so that no thread ends with a long one alone.
    std::vector<std::int64_t> order(static_cast<std::size_t>(batch.n_sequences));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
      return length(batch, a) > length(batch, b);
    });
    const std::int64_t n_heads = op.q.shape[1];
    for_each(batch.n_sequences * n_heads, [&](std::int64_t i) {
      const std::int64_t s = order[static_cast<std::size_t>(i / n_heads)];
      float* const scratch =
          scratch_.local().reserve(cpu::attention_scratch(length(batch, s), op.q.shape[2]));
      cpu::attend(op, batch, s, i % n_heads, scratch);
    });
  }

  void accumulate_contacts(const Contacts& op, const Batch& batch) override {
    std::vector<std::int64_t> first(static_cast<std::size_t>(batch.n_sequences));
    for (std::size_t s = 0; s + 1 < first.size(); ++s) {
      const std::int64_t n = n_residues(batch, static_cast<std::int64_t>(s));
      first[s + 1] = first[s] + n * n;
    }
    for (std::int64_t s = 0; s < batch.n_sequences; ++s)
      add_contacts(op, batch, s, op.scores.as<float>() + first[static_cast<std::size_t>(s)]);
  }

  void finish_contacts(const FinishContacts& op, const Batch& batch) override {
    auto* scores = op.scores.as<float>();
    for (std::int64_t s = 0; s < batch.n_sequences; ++s) {
      const std::int64_t n = n_residues(batch, s);
      const std::int64_t begin = batch.starts[static_cast<std::size_t>(s)] + 1;
      const std::vector<float> factors = correction_factors(op, begin, n);
      for_rows(n, [&](std::int64_t row, std::int64_t end) {
        for (; row < end; ++row) finish_row(op, factors, begin, n, row, scores + row * n);
      });
      scores += n * n;
    }
  }

  void log_softmax(const Tensor& x) override {
    for_rows(x.shape[0], [&](std::int64_t row, std::int64_t end) {
      for (; row < end; ++row) {
        auto* const v = x.row<float>(row);
        float* const last = v + x.shape[1];
        const float top = *std::max_element(v, last);
        float sum = 0;
        for (const float* p = v; p < last; ++p) sum += std::exp(*p - top);
        const float log_sum = top + std::log(sum);
        for (float* p = v; p < last; ++p) *p -= log_sum;
      }
    });
  }

  void tanh(const Tensor& x) override {
    for_rows(x.shape[0], [&](std::int64_t row, std::int64_t end) {
      for (; row < end; ++row)
        for (std::int64_t i = 0; i < x.shape[1]; ++i)
          x.row<float>(row)[i] = std::tanh(x.row<float>(row)[i]);
    });
  }

  void mean_pool(const Tensor& out, const Tensor& x, const Batch& batch) override {
    for_each(batch.n_sequences, [&](std::int64_t s) { cpu::mean_pool_row(out, x, batch, s); });
  }

 private:
  static std::int64_t length(const Batch& batch, std::int64_t s) {
    const auto at = static_cast<std::size_t>(s);
    return batch.starts[at + 1] - batch.starts[at];
  }
  static std::int64_t n_residues(const Batch& batch, std::int64_t s) {
    return std::max<std::int64_t>(0, length(batch, s) - 2);
  }

  template <class Body>
  void for_each(std::int64_t n, const Body& body) {
    arena_.execute([&] { tbb::parallel_for(std::int64_t{0}, n, body, tbb::simple_partitioner()); });
  }

  template <class Body>
  void for_rows(std::int64_t n, const Body& body) {
    arena_.execute([&] {
      tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, n, kRowsPerTask),
                        [&](const auto& range) { body(range.begin(), range.end()); });
    });
  }

  // Blocks of rows; where they are fewer than threads, each is cut into groups of panels too.
  void multiply(const Gemm& op) {
    const std::int64_t n_rows = op.x.shape[0];
    const std::int64_t n_panels = cpu::count_panels(op.linear->n_out);
    const std::int64_t n_blocks = (n_rows + kRowBlock - 1) / kRowBlock;
    const std::int64_t n_workers = arena_.max_concurrency();
    const std::int64_t n_groups = std::clamp<std::int64_t>(
        (8 * n_workers + n_blocks - 1) / std::max<std::int64_t>(1, n_blocks), 1, n_panels);
    const auto cut = [&](std::int64_t n, std::int64_t parts, std::int64_t i) {
      return n * i / parts;
    };
    for_each(n_blocks * n_groups, [&](std::int64_t i) {
      const std::int64_t block = i / n_groups, group = i % n_groups;
      cpu::gemm_part(op, {block * kRowBlock, std::min(n_rows, (block + 1) * kRowBlock),
                          cut(n_panels, n_groups, group), cut(n_panels, n_groups, group + 1)});
    });
  }

  void add_contacts(const Contacts& op, const Batch& batch, std::int64_t s, float* scores) {
    const std::int64_t n = n_residues(batch, s);
    const std::int64_t begin = batch.starts[static_cast<std::size_t>(s)];
    const std::int64_t n_heads = op.q.shape[1];
    for (std::int64_t head = 0; head < n_heads; ++head) {
      float* const sums = op.row_sums.row<float>(op.first_channel + head) + begin;
      std::fill(sums, sums + length(batch, s), 0.0f);
    }
    if (n == 0) return;
    std::vector<float> a(static_cast<std::size_t>(n * n));
    for (std::int64_t head = 0; head < n_heads; ++head) {
      float* const sums = op.row_sums.row<float>(op.first_channel + head) + begin + 1;
      const float weight = op.weight.as<float>()[head];
      arena_.execute([&] {
        cpu::probabilities(
            op, batch, s, head, a.data(),
            scratch_.local().reserve(cpu::attention_scratch(length(batch, s), op.q.shape[2])));
      });
      for_rows(n, [&](std::int64_t i, std::int64_t end) {
        for (; i < end; ++i) {
          double sum = 0;
          for (std::int64_t j = 0; j < n; ++j) {
            const float both =
                a[static_cast<std::size_t>(i * n + j)] + a[static_cast<std::size_t>(j * n + i)];
            sum += static_cast<double>(both);
            scores[i * n + j] += weight * both;
          }
          sums[i] = static_cast<float>(sum);
        }
      });
    }
  }

  // w_c / sum_i r_ci of each channel.
  static std::vector<float> correction_factors(const FinishContacts& op, std::int64_t begin,
                                               std::int64_t n) {
    std::vector<float> factors;
    for (std::int64_t c = 0; c < op.row_sums.shape[0]; ++c) {
      const float* const sums = op.row_sums.row<float>(c) + begin;
      const double total = std::accumulate(sums, sums + n, 0.0);
      factors.push_back(total == 0 ? 0.0f : static_cast<float>(op.weight.as<float>()[c] / total));
    }
    return factors;
  }

  static void finish_row(const FinishContacts& op, const std::vector<float>& factors,
                         std::int64_t begin, std::int64_t n, std::int64_t i, float* row) {
    for (std::size_t c = 0; c < factors.size(); ++c) {
      const float* const sums = op.row_sums.row<float>(static_cast<std::int64_t>(c)) + begin;
      const float factor = factors[c] * sums[i];
      for (std::int64_t j = 0; j < n; ++j) row[j] -= factor * sums[j];
    }
    for (std::int64_t j = 0; j < n; ++j) row[j] = 1 / (1 + std::exp(-(row[j] + op.bias)));
  }

  tbb::task_arena arena_;
  tbb::enumerable_thread_specific<Scratch> scratch_;
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend(const BackendOptions& options) {
  return std::make_unique<CpuBackend>(options);
}

}  // namespace biogpu::nn
