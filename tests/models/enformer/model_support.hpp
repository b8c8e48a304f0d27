#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lib/models/base/model_config.hpp"
#include "lib/models/enformer/enformer.hpp"
#include "lib/tensor/context.hpp"
#include "tests/models/dna_parts.hpp"

namespace biogpu::test {

inline const std::string kTiny = "enformer_tiny";

inline std::vector<std::vector<std::uint8_t>> tiny_windows() { return read_windows(kTiny); }

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
