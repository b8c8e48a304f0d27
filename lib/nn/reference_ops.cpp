#include "lib/nn/reference_ops.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "lib/nn/host_backend.hpp"

namespace biogpu::nn {
namespace {

double gelu_erf(double x) { return x * 0.5 * (1 + std::erf(x / std::sqrt(2.0))); }

// One row, x possibly the memory of a target.
void normalise(const std::vector<double>& x, const Norm& norm, float* out) {
  const auto d = static_cast<double>(x.size());
  double mean = 0, variance = 0;
  for (const double v : x) mean += v / d;
  for (const double v : x) variance += (v - mean) * (v - mean) / d;
  const double scale = 1 / std::sqrt(variance + static_cast<double>(norm.eps));
  for (std::size_t i = 0; i < x.size(); ++i)
    out[i] = static_cast<float>((x[i] - mean) * scale * norm.weight.as<float>()[i] +
                                norm.bias.as<float>()[i]);
}

void write_targets(const std::vector<double>& x, const Norm& norm, std::int64_t row,
                   const Tensor& sum, const Tensor& out, const Tensor& out_operand) {
  if (!sum.empty())
    std::transform(x.begin(), x.end(), sum.row<float>(row),
                   [](double v) { return static_cast<float>(v); });
  if (!out.empty()) normalise(x, norm, out.row<float>(row));
  if (!out_operand.empty()) normalise(x, norm, out_operand.row<float>(row));
}

class ReferenceBackend final : public HostBackend {
 public:
  std::string name() const override { return "reference"; }

  void embed(const Embed& op, const Batch& batch) override {
    const std::int64_t d = op.table.shape[1];
    for (std::int64_t t = 0; t < batch.starts.back(); ++t) {
      const float* const row = op.table.row<float>(batch.ids.as<std::int32_t>()[t]);
      std::vector<double> x(row, row + d);
      if (!batch.scale.empty())
        for (double& v : x) v *= batch.scale.as<float>()[t];
      if (!op.position_table.empty()) {
        const float* const position =
            op.position_table.row<float>(batch.positions.as<std::int32_t>()[t]);
        for (std::int64_t i = 0; i < d; ++i) x[static_cast<std::size_t>(i)] += position[i];
      }
      write_targets(x, op.norm, t, op.sum, op.out, op.out_operand);
    }
  }

  void add_layer_norm(const AddLayerNorm& op) override {
    for (std::int64_t r = 0; r < op.x.shape[0]; ++r) {
      const float* const row = op.x.row<float>(r);
      std::vector<double> x(row, row + op.x.shape[1]);
      if (!op.add.empty())
        for (std::size_t i = 0; i < x.size(); ++i) x[i] += op.add.row<float>(r)[i];
      write_targets(x, op.norm, r, op.sum, op.out, op.out_operand);
    }
  }

  void gemm(const Gemm& op) override {
    for (std::int64_t r = 0; r < op.x.shape[0]; ++r)
      for (std::int64_t n = 0; n < op.linear->n_out; ++n) {
        double y = op.linear->bias.empty() ? 0 : op.linear->bias.as<float>()[n];
        for (std::int64_t k = 0; k < op.linear->n_in; ++k)
          y += static_cast<double>(op.x.row<float>(r)[k]) * op.linear->weight.row<float>(n)[k];
        if (op.activation == Activation::gelu_erf) y = gelu_erf(y);
        if (!op.residual.empty()) y += op.residual.row<float>(r)[n];
        op.out.row<float>(r)[n] = static_cast<float>(y);
      }
  }

  void qkv_rotary(const QkvRotary& op, const Batch& batch) override {
    gemm({op.x, op.linear, Activation::none, {}, op.qkv});
    if (op.rotary.cos_sin.empty()) return;
    const std::int64_t h = op.rotary.cos_sin.shape[1];
    for (std::int64_t t = 0; t < batch.starts.back(); ++t) {
      const float* const cosines =
          op.rotary.cos_sin.row<float>(batch.positions.as<std::int32_t>()[t]);
      const float* const sines = cosines + h / 2;
      for (std::int64_t head = 0; head < 2 * op.n_heads; ++head) {
        float* const x = op.qkv.row<float>(t) + head * h;
        for (std::int64_t i = 0; i < h / 2; ++i) {
          const double a = x[i], b = x[i + h / 2];
          x[i] = static_cast<float>(a * cosines[i] - b * sines[i]);
          x[i + h / 2] = static_cast<float>(b * cosines[i] + a * sines[i]);
        }
      }
    }
  }

  void attention(const Attention& op, const Batch& batch) override {
    const std::int64_t h = op.q.shape[2];
    for (std::int64_t s = 0; s < batch.n_sequences; ++s)
      for (std::int64_t head = 0; head < op.q.shape[1]; ++head)
        for (std::int64_t i = begin(batch, s); i < end(batch, s); ++i) {
          std::vector<double> p = scores(op.q, op.k, op.scale, batch, s, head, i);
          if (!op.bias.empty())
            for (std::size_t j = 0; j < p.size(); ++j)
              p[j] += bias_at(op.bias, s, head, i - begin(batch, s), static_cast<std::int64_t>(j));
          if (!op.log_sum_exp.empty())
            op.log_sum_exp.row<float>(head)[i] = static_cast<float>(log_sum_exp(p));
          // Beside a bias of every key as low as a mask's, a logarithm of the sum would be lost.
          const double top = *std::max_element(p.begin(), p.end());
          double sum = 0;
          for (double& x : p) sum += x = std::exp(x - top);
          for (std::int64_t e = 0; e < h; ++e) {
            double y = 0;
            for (std::size_t j = 0; j < p.size(); ++j)
              y += p[j] / sum * at(op.v, begin(batch, s) + static_cast<std::int64_t>(j), head)[e];
            op.out.row<float>(i)[head * h + e] = static_cast<float>(y);
          }
        }
  }

  void accumulate_contacts(const Contacts& op, const Batch& batch) override {
    std::int64_t first = 0;  // of this sequence in op.scores
    for (std::int64_t s = 0; s < batch.n_sequences; ++s) {
      const std::int64_t n = std::max<std::int64_t>(0, end(batch, s) - begin(batch, s) - 2);
      const auto size = static_cast<std::size_t>(n);
      for (std::int64_t head = 0; head < op.q.shape[1]; ++head) {
        std::vector<double> a(size * size);
        for (std::size_t i = 0; i < size; ++i) {
          const std::int64_t t = begin(batch, s) + 1 + static_cast<std::int64_t>(i);
          const auto row = scores(op.q, op.k, op.scale, batch, s, head, t);
          for (std::size_t j = 0; j < size; ++j)
            a[i * size + j] = std::exp(row[j + 1] - op.log_sum_exp.row<float>(head)[t]);
        }
        float* const sums = op.row_sums.row<float>(op.first_channel + head) + begin(batch, s);
        std::fill(sums, sums + (end(batch, s) - begin(batch, s)), 0.0f);
        for (std::size_t i = 0; i < size; ++i) {
          double sum = 0;
          for (std::size_t j = 0; j < size; ++j) {
            const double both = a[i * size + j] + a[j * size + i];
            sum += both;
            op.scores.as<float>()[first + static_cast<std::int64_t>(i * size + j)] +=
                static_cast<float>(both * op.weight.as<float>()[head]);
          }
          sums[i + 1] = static_cast<float>(sum);
        }
      }
      first += n * n;
    }
  }

  void finish_contacts(const FinishContacts& op, const Batch& batch) override {
    std::int64_t first = 0;
    for (std::int64_t s = 0; s < batch.n_sequences; ++s) {
      const std::int64_t n = std::max<std::int64_t>(0, end(batch, s) - begin(batch, s) - 2);
      std::vector<double> correction(static_cast<std::size_t>(n * n));
      for (std::int64_t c = 0; c < op.row_sums.shape[0]; ++c) {
        const float* const sums = op.row_sums.row<float>(c) + begin(batch, s) + 1;
        double total = 0;
        for (std::int64_t i = 0; i < n; ++i) total += sums[i];
        if (total == 0) continue;
        for (std::int64_t i = 0; i < n; ++i)
          for (std::int64_t j = 0; j < n; ++j)
            correction[static_cast<std::size_t>(i * n + j)] +=
                static_cast<double>(op.weight.as<float>()[c]) * sums[i] * sums[j] / total;
      }
      for (std::int64_t i = 0; i < n * n; ++i) {
        float& p = op.scores.as<float>()[first + i];
        const double x = p - correction[static_cast<std::size_t>(i)] + static_cast<double>(op.bias);
        p = static_cast<float>(1 / (1 + std::exp(-x)));
      }
      first += n * n;
    }
  }

  void log_softmax(const Tensor& x) override {
    for (std::int64_t r = 0; r < x.shape[0]; ++r) {
      auto* const row = x.row<float>(r);
      const double log_sum = log_sum_exp({row, row + x.shape[1]});
      for (std::int64_t i = 0; i < x.shape[1]; ++i) row[i] = static_cast<float>(row[i] - log_sum);
    }
  }

  void tanh(const Tensor& x) override {
    for (std::int64_t r = 0; r < x.shape[0]; ++r)
      for (std::int64_t i = 0; i < x.shape[1]; ++i)
        x.row<float>(r)[i] = static_cast<float>(std::tanh(static_cast<double>(x.row<float>(r)[i])));
  }

  void mean_pool(const Tensor& out, const Tensor& x, const Batch& batch) override {
    for (std::int64_t s = 0; s < batch.n_sequences; ++s) {
      const std::int64_t n = std::max<std::int64_t>(0, end(batch, s) - begin(batch, s) - 2);
      for (std::int64_t i = 0; i < out.shape[1]; ++i) {
        double sum = 0;
        for (std::int64_t t = 0; t < n; ++t) sum += x.row<float>(begin(batch, s) + 1 + t)[i];
        out.row<float>(s)[i] = n == 0 ? 0.0f : static_cast<float>(sum / static_cast<double>(n));
      }
    }
  }

 private:
  static std::int64_t begin(const Batch& batch, std::int64_t s) {
    return batch.starts[static_cast<std::size_t>(s)];
  }
  static std::int64_t end(const Batch& batch, std::int64_t s) { return begin(batch, s + 1); }

  // [T, H, h]: the h numbers of a token and a head.
  static const float* at(const Tensor& x, std::int64_t token, std::int64_t head) {
    return x.row<float>(token) + head * x.stride[1];
  }

  static double bias_at(const Tensor& bias, std::int64_t s, std::int64_t head, std::int64_t i,
                        std::int64_t j) {
    const std::int64_t index[] = {s, head, i, j};
    const float* p = bias.as<float>();
    for (std::size_t axis = 0; axis < 4; ++axis)
      if (bias.shape[axis] > 1) p += index[axis] * bias.stride[axis];
    return *p;
  }

  static double log_sum_exp(const std::vector<double>& x) {
    const double top = *std::max_element(x.begin(), x.end());
    double sum = 0;
    for (const double v : x) sum += std::exp(v - top);
    return top + std::log(sum);
  }

  // Of token i for every token of its sequence.
  static std::vector<double> scores(const Tensor& q, const Tensor& k, float scale,
                                    const Batch& batch, std::int64_t s, std::int64_t head,
                                    std::int64_t i) {
    std::vector<double> p;
    for (std::int64_t j = begin(batch, s); j < end(batch, s); ++j) {
      double dot = 0;
      for (std::int64_t e = 0; e < q.shape[2]; ++e)
        dot += static_cast<double>(at(q, i, head)[e]) * at(k, j, head)[e];
      p.push_back(dot * static_cast<double>(scale));
    }
    return p;
  }
};

}  // namespace

std::unique_ptr<Backend> make_reference_backend() { return std::make_unique<ReferenceBackend>(); }

}  // namespace biogpu::nn
