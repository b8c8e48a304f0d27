#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lib/models/borzoi/borzoi.hpp"
#include "tests/models/dna_checks.hpp"

namespace biogpu::test {

inline const std::string kBorzoi = "borzoi_tiny", kFlashzoi = "flashzoi_tiny";

using LoadedBorzoi = LoadedDna<models::Borzoi>;

// Every part that a folder has numbers for, as borzoi-pytorch computes it.
inline void check_borzoi(LoadedBorzoi& loaded, const std::string& folder, double bound) {
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
  check_parts(loaded, folder, parts, bound);
}

// Widths that are no multiple of 8, and windows that are no whole bins.
inline const std::string kOddBorzoi = "borzoi_odd", kOddFlashzoi = "flashzoi_odd";

inline void check_odd_borzoi(LoadedBorzoi& loaded, const std::string& folder, double bound) {
  check_parts(loaded, folder, {{"heads/human", "tracks.human"}}, bound);
}

}  // namespace biogpu::test
