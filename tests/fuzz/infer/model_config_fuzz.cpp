// config.json from any bytes: an Error, or values of the kinds and ranges that loaders ask for.
#include "lib/models/base/model_config.hpp"

#include "lib/models/borzoi/config.hpp"
#include "lib/models/enformer/config.hpp"

#include "tests/fuzz/support/expect_error.hpp"
#include "tests/fuzz/support/folder.hpp"
#include "tests/fuzz/support/mutate.hpp"

using namespace biogpu;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n) {
  static const fuzz::Folder folder;
  const std::string path = folder.write("config.json", bytes, n);
  const auto expect = [&](const auto& body) { fuzz::expect_error_of(path, body); };
  expect([&] {
    const models::ModelConfig config(folder.path());
    for (const char* key : {"hidden_size", "num_edges", "model_type", "output_heads"}) {
      expect([&] {
        const std::int64_t count = config.count_or(key, 1);
        fuzz::require(count >= 1 && count <= 1 << 24, "a count out of range");
      });
      expect([&] { fuzz::require(config.count(key, 128) <= 128, "a count out of range"); });
      expect([&] { static_cast<void>(config.integer_or(key, 1)); });
      expect([&] {
        for (const auto& [name, count] : config.named_counts(key, 128))
          fuzz::require(count >= 1 && count <= 128, "a count out of range");
      });
      expect([&] {
        for (const std::int64_t count : config.counts_or(key, {1, 2}, 128))
          fuzz::require(count >= 1 && count <= 128, "a count out of range");
      });
      expect([&] { static_cast<void>(config.number_or(key, 1.0)); });
      expect([&] { static_cast<void>(config.flag_or(key, true)); });
      expect([&] { static_cast<void>(config.text_or(key, "")); });
      expect([&] { config.require(key, std::string("gelu")); });
      expect([&] { config.require(key, true); });
    }
    expect([&] {
      const auto borzoi = models::borzoi::read_config(config);
      fuzz::require(borzoi.bins.n >= 1 && borzoi.bins.first >= 0 &&
                        2 * borzoi.bins.first + borzoi.bins.n == borzoi.n_rows(),
                    "bins outside of the window");
    });
    expect([&] {
      const auto enformer = models::enformer::read_config(config);
      fuzz::require(enformer.n_bins >= 1 && enformer.first_bin >= 0 &&
                        2 * enformer.first_bin + enformer.n_bins == enformer.n_positions,
                    "bins outside of the window");
    });
  });
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  return fuzz::mutate_file(data, size, max_size, seed, {fuzz::Layout::text});
}
