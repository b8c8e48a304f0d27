#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lib/models/enformer/enformer.hpp"
#include "tests/models/dna_checks.hpp"

namespace biogpu::test {

inline const std::string kTiny = "enformer_tiny";

inline std::vector<Letters> tiny_windows() { return read_windows(kTiny); }

// The tiny model, or the one of a folder.
struct LoadedEnformer : LoadedDna<models::Enformer> {
  explicit LoadedEnformer(std::unique_ptr<tensor::Context> on,
                          models::Enformer::Options options = {},
                          const std::string& folder = model_data(kTiny))
      : LoadedDna(std::move(on), folder, std::move(options)) {}
};

// Every part, as enformer-pytorch computes it.
inline void check_enformer(LoadedEnformer& loaded, double bound) {
  check_parts(loaded, kTiny,
              {{"stem", "stem"},
               {"tower/0", "tower.0"},
               {"tower/1", "tower.1"},
               {"tower/2", "tower.2"},
               {"block/0", "block.0"},
               {"block/1", "block.1"},
               {"crop", "crop"},
               {"embedding", "embedding"},
               {"heads/human", "tracks.human"},
               {"heads/mouse", "tracks.mouse"}},
              bound);
}

// Widths that are no multiple of 8, and windows that are no whole bins.
inline const std::string kOdd = "enformer_odd";

inline void check_odd_enformer(LoadedEnformer& loaded, double bound) {
  check_parts(loaded, kOdd,
              {{"stem", "stem"},
               {"tower/0", "tower.0"},
               {"tower/1", "tower.1"},
               {"tower/2", "tower.2"},
               {"block/0", "block.0"},
               {"crop", "crop"},
               {"embedding", "embedding"},
               {"heads/human", "tracks.human"}},
              bound);
}

}  // namespace biogpu::test
