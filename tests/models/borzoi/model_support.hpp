#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lib/models/base/model_config.hpp"
#include "lib/models/borzoi/borzoi.hpp"
#include "lib/tensor/context.hpp"
#include "tests/models/dna_parts.hpp"

namespace biogpu::test {

inline const std::string kBorzoi = "borzoi_tiny", kFlashzoi = "flashzoi_tiny";

struct LoadedBorzoi {
  std::unique_ptr<tensor::Context> context;
  models::Borzoi model;

  LoadedBorzoi(std::unique_ptr<tensor::Context> on, const std::string& folder,
               models::Borzoi::Options options = {})
      : context(std::move(on)),
        model(folder, models::ModelConfig(folder), *context, std::move(options)) {}

  models::Outputs run(const std::vector<std::vector<std::uint8_t>>& windows,
                      const models::Borzoi::Request& request = {}) {
    std::vector<std::uint8_t> letters;
    for (const auto& window : windows) letters.insert(letters.end(), window.begin(), window.end());
    return model.run(letters, request);
  }
};

// Every part that a folder has numbers for, of both windows in one batch, as borzoi-pytorch
// computes it in double precision.
inline void check_borzoi(LoadedBorzoi& loaded, const std::string& folder, double bound) {
  const Vectors expected(folder + "/expected.safetensors");
  const models::Outputs outputs = loaded.run(read_windows(folder), {true, true, true});
  std::vector<std::pair<std::string, std::string>> parts = {
      {"unet1", "tower.5"}, {"block/0", "block.0"}, {"block/1", "block.1"},
      {"up/1", "up.1"},     {"up/0", "up.0"},       {"heads/human", "tracks.human"}};
  if (folder == kBorzoi)
    parts.insert(parts.end(), {{"tower/1", "tower.1"},
                               {"tower/2", "tower.2"},
                               {"tower/3", "tower.3"},
                               {"tower/4", "tower.4"},
                               {"embedding", "embedding"},
                               {"heads/mouse", "tracks.mouse"}});
  for (const auto& [key, name] : parts) {
    const auto n_columns = static_cast<std::size_t>(outputs.at(name).shape[1]);
    check_part(name, of_window(outputs, name, 0, 2), expected["one/" + key], n_columns, bound);
    if (name.starts_with("tracks."))
      check_part(name, of_window(outputs, name, 1, 2), expected["two/" + key], n_columns, bound);
  }
}

}  // namespace biogpu::test
