#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "lib/models/base/dna_model.hpp"
#include "lib/tensor/host_context.hpp"
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

// What is kept of a window, of all arrays.
template <class Loaded>
std::vector<std::vector<float>> kept_rows(Loaded& loaded, const models::KeptWindow& kept) {
  const models::KeptStore& store = loaded.model.kept_store();
  std::vector<std::vector<float>> all;
  for (std::size_t array = 0; array < store.arrays().size(); ++array) {
    const tensor::Tensor rows = store.rows(array, *kept.slot);
    std::vector<float>& values = all.emplace_back(static_cast<std::size_t>(rows.size()));
    loaded.context->copy_out(values.data(), rows);
  }
  loaded.context->synchronize();
  return all;
}

// The bytes of changed windows equal those of whole passes: what is kept of the tower, and tracks.
template <class Loaded>
void check_changed(Loaded& loaded, const std::vector<Letters>& windows,
                   const ChangedSample& sample) {
  const auto [every, at_once] = sample;
  std::vector<models::KeptWindow> kept;
  loaded.model.reserve_kept(windows.size() + 2 * at_once);
  const models::Outputs outputs = loaded.run(windows, {true, false, false, &kept});
  REQUIRE(kept.size() == windows.size());
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
    std::vector<models::KeptWindow> kept_changed, kept_whole;
    const models::Outputs got =
        loaded.model.run_changed(together, {true, false, false, &kept_changed});
    const models::Outputs right = loaded.run(whole, {true, false, false, &kept_whole});
    for (std::size_t i = 0; i < at_once; ++i)
      CHECK(kept_rows(loaded, kept_changed[i]) == kept_rows(loaded, kept_whole[i]));
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

// Counts what is sent to a device.
class CountingContext final : public tensor::HostContext {
 public:
  Kind kind() const override { return Kind::reference; }
  std::string name() const override { return "counting"; }
  tensor::Precision precision() const override { return tensor::Precision::fp32; }
  void synchronize() override {}
  void copy_in(const tensor::Tensor& to, const void* host) override {
    n_bytes += to.bytes();
    HostContext::copy_in(to, host);
  }
  std::size_t n_bytes = 0;
};

// A changed window's letters are sent, and numbers of rows: nothing that is kept.
template <class Loaded>
void check_sent(Loaded& loaded, CountingContext& context, const Letters& window) {
  std::vector<models::KeptWindow> kept;
  loaded.run({window}, {true, false, false, &kept});
  const Letters changed = with_letters(window, window.size() / 2, 1);
  const std::vector<models::ChangedWindow> windows(3, {&kept[0], changed});
  context.n_bytes = 0;
  loaded.model.run_changed(windows, {});
  CHECK(context.n_bytes > 0);
  CHECK(context.n_bytes < loaded.model.kept_store().window_bytes() / 3);
}

}  // namespace biogpu::test
