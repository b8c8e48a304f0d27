#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lib/io/arrays/array_writer.hpp"
#include "tests/unit/infer/folder.hpp"

namespace biogpu::test {

// The random weights of scripts/reference/make_proteinmpnn.py, bit for bit.
class RandomModel {
 public:
  // extra: vectors that are there, too.
  RandomModel(bool ca_only, std::uint64_t seed, const std::vector<std::string>& extra = {},
              int n_neighbours = 48)
      : seed_(seed),
        writer_(io::make_array_writer(folder_.path("model.safetensors"),
                                      io::ArrayFormat::safetensors)) {
    linear("features.embeddings.linear", 16, 66);
    matrix("features.edge_embedding.weight", kWidth, ca_only ? 167 : 416);
    norm("features.norm_edges");
    if (ca_only) linear("W_v", kWidth, kWidth);
    linear("W_e", kWidth, kWidth);
    matrix("W_s.weight", 21, kWidth);
    for (int l = 0; l < 3; ++l) {
      layer("encoder_layers." + std::to_string(l) + ".", 3, {"11", "12", "13"}, 3);
      layer("decoder_layers." + std::to_string(l) + ".", 4, {}, 2);
    }
    linear("W_out", 21, kWidth);
    for (const std::string& name : extra) vector(name, kWidth, 0.0f);
    writer_->commit();
    folder_.write("config.json",
                  std::string("{\"model_type\": \"proteinmpnn\", \"name\": \"v_48_020\", "
                              "\"noise_level\": 0.2, \"num_edges\": ") +
                      std::to_string(n_neighbours) +
                      ", \"ca_only\": " + (ca_only ? "true}" : "false}"));
  }

  std::string path() const { return folder_.path(); }

 private:
  static constexpr std::int64_t kWidth = 128;

  std::vector<float> uniform(const std::string& name, std::int64_t n) const {
    std::uint64_t state = 0xCBF29CE484222325;
    for (const char byte : name) state = (state ^ static_cast<unsigned char>(byte)) * 0x100000001B3;
    std::vector<float> values;
    for (std::int64_t i = 1; i <= n; ++i) {
      std::uint64_t z = state + seed_ + static_cast<std::uint64_t>(i) * 0x9E3779B97F4A7C15;
      z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
      z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
      z ^= z >> 31;
      values.push_back(static_cast<float>(static_cast<double>(z >> 40) / (1 << 23) - 1));
    }
    return values;
  }

  void matrix(const std::string& name, std::int64_t n_out, std::int64_t n_in) {
    const double gain = name == "W_out.weight" ? 4.0 : 1.5;
    const auto bound =
        static_cast<float>(gain * std::sqrt(6.0 / static_cast<double>(n_out + n_in)));
    std::vector<float> values = uniform(name, n_out * n_in);
    for (float& value : values) value *= bound;
    writer_->add({name, {n_out, n_in}, values});
  }

  void vector(const std::string& name, std::int64_t n, float center) {
    std::vector<float> values = uniform(name, n);
    for (float& value : values) value = value * 0.125f + center;
    writer_->add({name, {n}, values});
  }

  void linear(const std::string& name, std::int64_t n_out, std::int64_t n_in) {
    matrix(name + ".weight", n_out, n_in);
    vector(name + ".bias", n_out, 0.0f);
  }
  void norm(const std::string& name) {
    vector(name + ".weight", kWidth, 1.0f);
    vector(name + ".bias", kWidth, 0.0f);
  }

  void layer(const std::string& prefix, std::int64_t n_parts, const std::vector<std::string>& more,
             int n_norms) {
    for (int i = 1; i <= n_norms; ++i) norm(prefix + "norm" + std::to_string(i));
    linear(prefix + "W1", kWidth, n_parts * kWidth);
    linear(prefix + "W2", kWidth, kWidth);
    linear(prefix + "W3", kWidth, kWidth);
    for (std::size_t i = 0; i < more.size(); ++i)
      linear(prefix + "W" + more[i], kWidth, i == 0 ? n_parts * kWidth : kWidth);
    linear(prefix + "dense.W_in", 4 * kWidth, kWidth);
    linear(prefix + "dense.W_out", kWidth, 4 * kWidth);
  }

  Folder folder_;
  std::uint64_t seed_;
  std::unique_ptr<io::ArrayWriter> writer_;
};

}  // namespace biogpu::test
