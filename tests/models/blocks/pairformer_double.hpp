#pragma once

// A Pairformer block in double precision: Abramson et al. 2024 (doi 10.1038/s41586-024-07487-w),
// supplement, algorithms 11 to 15, 17 and 24, with the names of Protenix.

#include "tests/models/blocks/double_rows.hpp"

namespace biogpu::test {

class PairformerInDouble {
 public:
  std::size_t n, n_heads, n_single_heads;  // tokens; heads of triangle attention, and of tokens
  const DoubleLayers& layers;
  Numbers mask;  // [n, n]: 0 or 1
  Numbers z, s;  // [n, n, c] and [n, c_s]

  void triangle_product(const std::string& name, bool outgoing) {
    const Numbers x = norm_of(z, at(name + ".layer_norm_in"));
    const Numbers a = gated_side(x, name + ".linear_a"), b = gated_side(x, name + ".linear_b");
    const std::size_t c = a.size() / (n * n);
    Numbers sums(a.size());
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        for (std::size_t k = 0; k < n; ++k)
          for (std::size_t e = 0; e < c; ++e)
            sums[(i * n + j) * c + e] += outgoing ? a[(i * n + k) * c + e] * b[(j * n + k) * c + e]
                                                  : a[(k * n + i) * c + e] * b[(k * n + j) * c + e];
    Numbers y = product_of(norm_of(sums, at(name + ".layer_norm_out")), at(name + ".linear_z"));
    gate(y, product_of(x, at(name + ".linear_g")));
    add_to(z, y);
  }

  // A masked key has a logit of -1e9, so that a row without other keys weighs all equally.
  void triangle_attention(const std::string& name, bool ending) {
    const Numbers x = norm_of(z, at(name + ".layer_norm"));
    const Numbers bias = product_of(x, at(name + ".linear"));
    const Numbers q = product_of(x, at(name + ".mha.linear_q")),
                  k = product_of(x, at(name + ".mha.linear_k")),
                  v = product_of(x, at(name + ".mha.linear_v"));
    const std::size_t width = q.size() / (n * n), h = width / n_heads;
    const auto pair = [&](std::size_t i, std::size_t j) { return ending ? j * n + i : i * n + j; };
    Numbers o(q.size());
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        for (std::size_t head = 0; head < n_heads; ++head) {
          Numbers p(n);
          for (std::size_t other = 0; other < n; ++other) {
            p[other] =
                dot(&q[pair(i, j) * width + head * h], &k[pair(i, other) * width + head * h], h) /
                    std::sqrt(static_cast<double>(h)) +
                bias[pair(j, other) * n_heads + head];
            if (mask[pair(i, other)] == 0) p[other] = -1e9;
          }
          softmax_of(p);
          for (std::size_t other = 0; other < n; ++other)
            for (std::size_t e = 0; e < h; ++e)
              o[pair(i, j) * width + head * h + e] +=
                  p[other] * v[pair(i, other) * width + head * h + e];
        }
    gate(o, product_of(x, at(name + ".mha.linear_g")));
    add_to(z, product_of(o, at(name + ".mha.linear_o")));
  }

  void transition(const std::string& name, Numbers& to) {
    const Numbers x = norm_of(to, at(name + ".layernorm1"));
    Numbers a = product_of(x, at(name + ".linear_no_bias_a"));
    const Numbers b = product_of(x, at(name + ".linear_no_bias_b"));
    for (std::size_t i = 0; i < a.size(); ++i) a[i] *= sigmoid_of(a[i]) * b[i];
    add_to(to, product_of(a, at(name + ".linear_no_bias")));
  }

  void pair_bias_attention() {
    const std::string name = "attention_pair_bias", inner = name + ".attention";
    const Numbers x = norm_of(s, at(name + ".layernorm_a"));
    const Numbers bias =
        product_of(norm_of(z, at(name + ".layernorm_z")), at(name + ".linear_nobias_z"));
    const Numbers q = product_of(x, at(inner + ".linear_q")),
                  k = product_of(x, at(inner + ".linear_k")),
                  v = product_of(x, at(inner + ".linear_v"));
    const std::size_t width = q.size() / n, h = width / n_single_heads;
    Numbers o(q.size());
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t head = 0; head < n_single_heads; ++head) {
        Numbers p(n);
        for (std::size_t j = 0; j < n; ++j)
          p[j] = dot(&q[i * width + head * h], &k[j * width + head * h], h) /
                     std::sqrt(static_cast<double>(h)) +
                 bias[(i * n + j) * n_single_heads + head];
        softmax_of(p);
        for (std::size_t j = 0; j < n; ++j)
          for (std::size_t e = 0; e < h; ++e)
            o[i * width + head * h + e] += p[j] * v[j * width + head * h + e];
      }
    gate(o, product_of(x, at(inner + ".linear_g")));
    add_to(s, product_of(o, at(inner + ".linear_o")));
  }

 private:
  const DoubleLayer& at(const std::string& name) const { return layers.at(name); }

  static double dot(const double* x, const double* y, std::size_t d) {
    double sum = 0;
    for (std::size_t i = 0; i < d; ++i) sum += x[i] * y[i];
    return sum;
  }
  static void gate(Numbers& x, const Numbers& by) {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] *= sigmoid_of(by[i]);
  }
  Numbers gated_side(const Numbers& x, const std::string& name) const {
    Numbers side = product_of(x, at(name + "_p"));
    gate(side, product_of(x, at(name + "_g")));
    const std::size_t c = side.size() / (n * n);
    for (std::size_t i = 0; i < side.size(); ++i) side[i] *= mask[i / c];
    return side;
  }
};

}  // namespace biogpu::test
