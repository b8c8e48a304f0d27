#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "lib/models/base/dna_model.hpp"
#include "tests/models/changed_support.hpp"
#include "tests/support/catch.hpp"

namespace biogpu::test {

// Tracks of both heads, two of the first being the same of both strands and one behind them.
inline std::vector<models::HeadChoice> heads_with_strands() {
  return {{"human", {3, 0, 2}, {1, 0}}, {"mouse", {}}};
}

// Sums of tracks that were fetched, bin by bin: [sums, tracks of the output].
inline std::vector<double> sums_by_hand(const models::Outputs& outputs,
                                        const models::HeadChoice& head, std::int64_t n_bins,
                                        const models::DnaModel::Request& request) {
  const std::span<const models::BinSum> head_sums = request.sums.front();
  const models::Outputs::Array& tracks = outputs.at("tracks." + head.name);
  const auto width = static_cast<std::size_t>(tracks.shape[1]);
  std::vector<double> sums;
  for (const models::BinSum& sum : head_sums)
    for (std::size_t t = 0; t < (head.other_strand.empty() ? width : head.other_strand.size());
         ++t) {
      const bool exchanged = request.other_strand && !head.other_strand.empty();
      double of_track = 0;
      for (std::int64_t bin = sum.begin; bin < sum.end; ++bin) {
        const std::size_t row =
            sum.window * static_cast<std::size_t>(n_bins) + static_cast<std::size_t>(bin);
        const volatile double product =
            sum.factor * static_cast<double>(
                             tracks.values[row * width + (exchanged ? head.other_strand[t] : t)]);
        of_track = of_track + product;
      }
      sums.push_back(of_track);
    }
  return sums;
}

// The bytes of sums equal those of tracks that were fetched; rows behind the last sum are 0.
inline void check_same_sums(const models::DnaModel& model, const models::Outputs& got,
                            const models::Outputs& tracks,
                            const models::DnaModel::Request& request) {
  for (const models::HeadChoice& head : model.heads()) {
    INFO(head.name << ", " << request.sums.front().size() << " sums");
    const std::vector<double> right =
        sums_by_hand(tracks, head, model.head(head).bins.n_bins, request);
    const std::vector<double>& sums = got.at("sums." + head.name).doubles;
    REQUIRE(sums.size() >= right.size());
    CHECK(std::memcmp(sums.data(), right.data(), right.size() * sizeof(double)) == 0);
    for (std::size_t i = right.size(); i < sums.size(); ++i) CHECK(sums[i] == 0);
    CHECK(got.find("tracks." + head.name) == nullptr);
  }
}

// Sums over whole and changed windows, of both strands. Passes of one capacity follow each other,
// so that a device repeats a captured one for other sums.
template <class Loaded>
void check_sums(Loaded& loaded, const std::vector<Letters>& windows) {
  const std::int64_t n = loaded.model.grids().front().n_bins;
  struct Case {
    bool other_strand;
    std::vector<models::BinSum> sums;
  };
  const std::vector<Case> cases = {
      {true, {{0, 0, n, 1.0 / 3}, {1, 2, 3, 1}, {1, n - 1, n, 0.1}}},
      {true, {{1, 0, n, 1.0 / 7}, {0, 1, n - 1, 1}, {0, 4, 4, 1}, {0, 0, 1, 0.3}}},
      {true, {{0, 3, n, 0.7}, {1, 1, n, 0.9}, {1, 0, n, 1.0 / 3}}},
      {false, {{0, 3, n, 0.7}, {1, 1, n, 0.9}, {1, 0, n, 1.0 / 3}}},
      {false, {{1, 1, n - 2, 0.7}}}};
  std::vector<models::KeptWindow> kept;
  const models::Outputs tracks = loaded.run(windows, {true, false, false, &kept});
  std::vector<Letters> letters;
  for (std::size_t i = 0; i < 2; ++i) {
    letters.push_back(with_letters(windows[i], 500 + 7 * i, 1));
    REQUIRE(loaded.model.is_near(windows[i], letters[i]));
  }
  const models::Outputs changed_tracks = loaded.run(letters, {});
  const std::vector<models::ChangedWindow> changed = {{&kept[0], letters[0]},
                                                      {&kept[1], letters[1]}};
  models::DnaModel::Request request;
  request.tracks = false;
  for (const auto& [other_strand, sums] : cases) {
    request.sums.assign(loaded.model.heads().size(), sums);
    request.other_strand = other_strand;
    check_same_sums(loaded.model, loaded.run(windows, request), tracks, request);
    check_same_sums(loaded.model, loaded.model.run_changed(changed, request), changed_tracks,
                    request);
  }
  const std::vector<models::BinSum> outside = {{0, 0, n + 1, 1}};
  request.sums.assign(loaded.model.heads().size(), outside);
  CHECK_THROWS(loaded.run(windows, request));
}

}  // namespace biogpu::test
