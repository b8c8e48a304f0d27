#pragma once

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lib/models/enformer/enformer.hpp"
#include "lib/models/model_config.hpp"
#include "lib/tensor/context.hpp"
#include "tests/models/enformer/vectors.hpp"

namespace biogpu::test {

inline const std::string kTiny = "enformer_tiny";

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The windows of the vectors: "one" and "two".
inline std::vector<std::vector<std::uint8_t>> tiny_windows() {
  std::ifstream file(model_data(kTiny + "/windows.fa"));
  std::vector<std::vector<std::uint8_t>> windows;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '>') continue;
    std::vector<std::uint8_t> codes;
    for (const char letter : line) {
      const auto at = std::string("ACGT").find(static_cast<char>(std::toupper(letter)));
      codes.push_back(at == std::string::npos ? 4 : static_cast<std::uint8_t>(at));
    }
    windows.push_back(std::move(codes));
  }
  REQUIRE(windows.size() == 2);
  return windows;
}

struct LoadedEnformer {
  std::unique_ptr<tensor::Context> context;
  models::Enformer model;

  explicit LoadedEnformer(std::unique_ptr<tensor::Context> on,
                          models::Enformer::Options options = {},
                          const std::string& folder = model_data(kTiny))
      : context(std::move(on)),
        model(folder, models::ModelConfig(folder), *context, std::move(options)) {}

  models::Outputs run(const std::vector<std::vector<std::uint8_t>>& windows,
                      const models::Enformer::Request& request = {}) {
    std::vector<std::uint8_t> letters;
    for (const auto& window : windows) letters.insert(letters.end(), window.begin(), window.end());
    return model.run(letters, request);
  }
};

// The part of window i of n in an output.
inline std::vector<float> of_window(const models::Outputs& outputs, const std::string& name,
                                    std::size_t i, std::size_t n) {
  const auto& values = outputs.at(name).values;
  const std::size_t size = values.size() / n;
  return {values.begin() + i * size, values.begin() + (i + 1) * size};
}

// Numbers must differ over positions about as much as over channels, or errors of positions hide.
inline void check_part(const std::string& name, const std::vector<float>& got,
                       const std::vector<float>& right, std::size_t n_columns, double bound) {
  INFO(name);
  double squares = 0;
  for (const double spread : column_spreads(right, n_columns)) squares += spread * spread;
  const double whole = column_spreads(right, 1)[0];
  CHECK(std::sqrt(squares / static_cast<double>(n_columns)) > 0.4 * whole);
  CHECK(position_difference(got, right, n_columns) < bound);
}

// Every part of both windows, in one batch, as enformer-pytorch computes it in double precision.
inline void check_parts(LoadedEnformer& loaded, double bound) {
  const Vectors expected(kTiny + "/expected.safetensors");
  const models::Outputs outputs = loaded.run(tiny_windows(), {true, true, true});
  const std::vector<std::pair<std::string, std::string>> parts = {{"stem", "stem"},
                                                                  {"tower/0", "tower.0"},
                                                                  {"tower/1", "tower.1"},
                                                                  {"tower/2", "tower.2"},
                                                                  {"block/0", "block.0"},
                                                                  {"block/1", "block.1"},
                                                                  {"crop", "crop"},
                                                                  {"embedding", "embedding"},
                                                                  {"heads/human", "tracks.human"},
                                                                  {"heads/mouse", "tracks.mouse"}};
  for (const auto& [key, name] : parts) {
    const auto n_columns = static_cast<std::size_t>(outputs.at(name).shape[1]);
    check_part(name, of_window(outputs, name, 0, 2), expected["one/" + key], n_columns, bound);
    if (name.starts_with("tracks."))
      check_part(name, of_window(outputs, name, 1, 2), expected["two/" + key], n_columns, bound);
  }
}

}  // namespace biogpu::test
