#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "lib/models/base/dna_model.hpp"
#include "tests/models/dna_parts.hpp"

namespace biogpu::test {

using Letters = std::vector<std::uint8_t>;

inline Letters with_letters(Letters window, std::size_t first, std::size_t n) {
  for (std::size_t i = first; i < first + n; ++i)
    window[i] = static_cast<std::uint8_t>((window[i] + 1) % 4);
  return window;
}

// Substitutions at all places that differ: next to both ends, on and next to borders of bins.
inline std::vector<Letters> substituted(const Letters& window) {
  std::vector<Letters> changed;
  for (const std::size_t at : {0, 1, 6, 7, 8, 15, 16, 47, 48, 63, 64, 500, 511, 512, 513, 1000})
    changed.push_back(with_letters(window, at, 1));
  changed.push_back(with_letters(window, window.size() - 1, 1));
  changed.push_back(with_letters(window, 300, 40));
  changed.push_back(with_letters(with_letters(window, 700, 1), 731, 2));
  changed.push_back(window);
  return changed;
}

// How many changed windows are looked at.
struct ChangedSample {
  std::size_t every = 1;    // of how many one is
  std::size_t at_once = 5;  // of a pass
};

// The bytes of changed windows equal those of whole passes: what is kept of the tower, and tracks.
template <class Loaded>
void check_changed(Loaded& loaded, const std::vector<Letters>& windows,
                   const ChangedSample& sample) {
  const auto [every, at_once] = sample;
  const models::DnaModel::Request request{true, false, false, true};
  const models::Outputs outputs = loaded.run(windows, request);
  std::vector<models::KeptWindow> kept;
  for (std::size_t i = 0; i < windows.size(); ++i)
    kept.push_back(models::DnaModel::kept_window(outputs, i, windows.size(), windows[i]));
  std::vector<Letters> changed;
  std::vector<std::size_t> of;
  for (std::size_t i = 0; i < windows.size(); ++i)
    for (std::size_t k = i; k < substituted(windows[i]).size(); k += every) {
      changed.push_back(substituted(windows[i])[k]);
      of.push_back(i);
    }
  for (std::size_t first = 0; first + at_once <= changed.size(); first += at_once) {
    std::vector<models::ChangedWindow> together;
    std::vector<Letters> whole;
    for (std::size_t i = first; i < first + at_once; ++i) {
      const models::KeptWindow& reference = kept[of[i]];
      REQUIRE(loaded.model.is_near(reference.letters, changed[i]));
      together.push_back({&reference, changed[i]});
      whole.push_back(changed[i]);
    }
    const models::Outputs got = loaded.model.run_changed(together, request);
    const models::Outputs right = loaded.run(whole, request);
    REQUIRE(got.arrays().size() == right.arrays().size());
    for (const models::Outputs::Array& array : right.arrays()) {
      INFO(array.name << " from window " << first);
      CHECK(got.at(array.name).shape == array.shape);
      CHECK(got.at(array.name).values == array.values);
    }
    // The substitutions matter.
    CHECK(of_window(got, "tracks.human", 0, at_once) !=
          of_window(outputs, "tracks.human", of[first], 2));
  }
}

}  // namespace biogpu::test
