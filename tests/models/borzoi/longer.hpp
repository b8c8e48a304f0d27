#pragma once

#include <string>
#include <vector>

#include "tests/models/borzoi/model_support.hpp"
#include "tests/unit/infer/folder.hpp"

namespace biogpu::test {

// A tiny model with windows of twice the length: in those of its folder, one letter reaches too
// much for a part to be worth it.
class LongerBorzoi {
 public:
  explicit LongerBorzoi(const std::string& folder) {
    std::string config = read_file(model_data(folder + "/config.json"));
    const std::string length = "\"sequence_length\": 4096";
    config.replace(config.find(length), length.size(), "\"sequence_length\": 8192");
    written_.write("config.json", config);
    written_.write("model.safetensors", read_file(model_data(folder + "/model.safetensors")));
    const std::vector<Letters> half = read_windows(folder);
    for (const std::size_t first : {0u, 1u}) {
      windows_.push_back(half[first]);
      windows_.back().insert(windows_.back().end(), half[1 - first].begin(), half[1 - first].end());
    }
  }

  const std::string& path() const { return path_; }
  const std::vector<Letters>& windows() const { return windows_; }

 private:
  Folder written_;
  const std::string path_ = written_.path();
  std::vector<Letters> windows_;
};

}  // namespace biogpu::test
