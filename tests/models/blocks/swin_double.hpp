#pragma once

// Blocks and patch merging of a Swin Transformer in double precision: Liu et al. 2021 (arXiv
// 2103.14030), with the names of its repository.

#include "tests/models/blocks/double_rows.hpp"

namespace biogpu::test {

class SwinInDouble {
 public:
  std::size_t n_images, height, width;
  std::size_t n_heads, window;
  const DoubleLayers& layers;
  Numbers x;  // [n_images, height, width, channels]

  // Padded by zeros behind the norm to whole windows, rolled up and to the left by `shift`, and cut
  // into windows. Places of a window that were apart before the roll have logits 100 lower.
  void block(const std::string& name, std::size_t shift) {
    const std::size_t channels = x.size() / (n_images * height * width);
    const std::size_t rows = padded(height), columns = padded(width);
    const Numbers y = norm_of(x, at(name + ".norm1"));
    Numbers filled(n_images * rows * columns * channels);
    for_tokens([&](std::size_t image, std::size_t i, std::size_t j, std::size_t token) {
      for (std::size_t e = 0; e < channels; ++e)
        filled[((image * rows + i) * columns + j) * channels + e] = y[token * channels + e];
    });
    const Numbers qkv = product_of(filled, at(name + ".attn.qkv"));
    const Numbers& table = at(name + ".attn.relative_position_bias_table").weight;
    const std::size_t h = channels / n_heads;
    Numbers attended(x.size());
    for_tokens([&](std::size_t image, std::size_t i, std::size_t j, std::size_t token) {
      // The token's place in the rolled image.
      const std::size_t row = (i + rows - shift) % rows, column = (j + columns - shift) % columns;
      for (std::size_t head = 0; head < n_heads; ++head) {
        Numbers p;
        std::vector<std::size_t> places;
        for (std::size_t a = row / window * window; a < (row / window + 1) * window; ++a)
          for (std::size_t b = column / window * window; b < (column / window + 1) * window; ++b) {
            const std::size_t place =
                (image * rows + (a + shift) % rows) * columns + (b + shift) % columns;
            const std::size_t own = (image * rows + i) * columns + j;
            double logit = 0;
            for (std::size_t e = head * h; e < (head + 1) * h; ++e)
              logit += qkv[own * 3 * channels + e] * qkv[(place * 3 + 1) * channels + e];
            logit /= std::sqrt(static_cast<double>(h));
            const std::size_t relative =
                (row + window - 1 - a) * (2 * window - 1) + (column + window - 1 - b);
            logit += table[relative * n_heads + head];
            if (shift > 0 && (region(row, rows, shift) != region(a, rows, shift) ||
                              region(column, columns, shift) != region(b, columns, shift)))
              logit -= 100;
            p.push_back(logit);
            places.push_back(place);
          }
        softmax_of(p);
        for (std::size_t k = 0; k < p.size(); ++k)
          for (std::size_t e = head * h; e < (head + 1) * h; ++e)
            attended[token * channels + e] += p[k] * qkv[(places[k] * 3 + 2) * channels + e];
      }
    });
    add_to(x, product_of(attended, at(name + ".attn.proj")));
    Numbers up = product_of(norm_of(x, at(name + ".norm2")), at(name + ".mlp.fc1"));
    for (double& number : up) number *= 0.5 * (1 + std::erf(number / std::sqrt(2.0)));
    add_to(x, product_of(up, at(name + ".mlp.fc2")));
  }

  // 2 x 2 tokens as one, with zeros outside: (0, 0), (1, 0), (0, 1), (1, 1).
  void merge(const std::string& name) {
    const std::size_t channels = x.size() / (n_images * height * width);
    const std::size_t rows = (height + 1) / 2, columns = (width + 1) / 2;
    Numbers four(n_images * rows * columns * 4 * channels);
    for_tokens([&](std::size_t image, std::size_t i, std::size_t j, std::size_t token) {
      const std::size_t to = (image * rows + i / 2) * columns + j / 2, part = i % 2 + 2 * (j % 2);
      for (std::size_t e = 0; e < channels; ++e)
        four[(to * 4 + part) * channels + e] = x[token * channels + e];
    });
    x = product_of(norm_of(four, at(name + ".norm")), at(name + ".reduction"));
    height = rows;
    width = columns;
  }

 private:
  const DoubleLayer& at(const std::string& name) const { return layers.at(name); }
  std::size_t padded(std::size_t n) const { return (n + window - 1) / window * window; }
  int region(std::size_t place, std::size_t length, std::size_t shift) const {
    return place < length - window ? 0 : place < length - shift ? 1 : 2;
  }
  template <class Body>
  void for_tokens(const Body& body) const {
    std::size_t token = 0;
    for (std::size_t image = 0; image < n_images; ++image)
      for (std::size_t i = 0; i < height; ++i)
        for (std::size_t j = 0; j < width; ++j) body(image, i, j, token++);
  }
};

}  // namespace biogpu::test
