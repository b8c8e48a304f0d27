#pragma once

// Checks of changed windows and of sums over parts of windows, on any device.

#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/models/alphagenome/model_support.hpp"
#include "tests/models/changed_support.hpp"
#include "tests/support/catch.hpp"

namespace biogpu::test {

inline constexpr std::int64_t kLongWindow = 2048;  // 256 coarse rows of the tiny model

inline models::AlphaGenome::Options changed_options() {
  models::AlphaGenome::Options options;
  options.n_bases = kLongWindow;
  options.weights.heads = {{"rna_seq/1", {3, 0, 4}, {1, 0}},
                           {"dnase/128", {}},
                           {"splice_site_usage", {}},
                           {"chip_histone/128", {2, 1}}};
  return options;
}

inline Letters long_window(unsigned seed) {
  Letters letters;
  std::uint32_t state = seed * 2654435761u + 1;
  for (std::int64_t i = 0; i < kLongWindow; ++i) {
    state = state * 1664525u + 1013904223u;
    letters.push_back(static_cast<std::uint8_t>(state >> 30));
  }
  return letters;
}

inline std::vector<Letters> changed_letters(const Letters& window) {
  std::vector<Letters> changed;
  for (const std::size_t at : {std::size_t{0}, std::size_t{9}, std::size_t{63}, std::size_t{64},
                               std::size_t{1023}, std::size_t{1500}, window.size() - 1})
    changed.push_back(with_letters(window, at, 1));
  changed.push_back(with_letters(window, 700, 30));
  changed.push_back(window);
  return changed;
}

// What is kept of the encoder of changed windows is what is kept of whole ones.
inline void check_kept_trunk(LoadedAlphaGenome& loaded) {
  const Letters window = long_window(1);
  std::vector<models::KeptWindow> kept;
  loaded.model.reserve_kept(4);
  models::DnaModel::Request request{false, false, false, &kept};
  loaded.run({window}, request);
  for (const Letters& letters : changed_letters(window)) {
    std::vector<models::KeptWindow> of_changed, of_whole;
    request.kept = &of_changed;
    const std::vector<models::ChangedWindow> changed = {{&kept[0], letters}};
    loaded.model.run_changed(changed, request);
    request.kept = &of_whole;
    loaded.run({letters}, request);
    const bool is_same = kept_rows(loaded, of_changed[0]) == kept_rows(loaded, of_whole[0]);
    CHECK(is_same);
  }
}

// The sums of fetched tracks, bin by bin.
inline std::vector<double> summed(const models::Outputs& outputs, const models::HeadChoice& head,
                                  std::int64_t n_bins, std::span<const models::BinSum> sums,
                                  bool other_strand) {
  const models::Outputs::Array& tracks = outputs.at("tracks." + head.name);
  const auto width = static_cast<std::size_t>(tracks.shape[1]);
  const std::size_t n_out = head.other_strand.empty() ? width : head.other_strand.size();
  std::vector<double> result;
  for (const models::BinSum& sum : sums)
    for (std::size_t t = 0; t < n_out; ++t) {
      const std::size_t column =
          other_strand && !head.other_strand.empty() ? head.other_strand[t] : t;
      double of_track = 0;
      for (std::int64_t bin = sum.begin; bin < sum.end; ++bin) {
        const std::size_t row =
            sum.window * static_cast<std::size_t>(n_bins) + static_cast<std::size_t>(bin);
        const volatile double product =
            sum.factor * static_cast<double>(tracks.values[row * width + column]);
        of_track = of_track + product;
      }
      result.push_back(of_track);
    }
  return result;
}

inline void check_same_sums_of_heads(LoadedAlphaGenome& loaded, const models::Outputs& got,
                                     const models::Outputs& tracks,
                                     const models::DnaModel::Request& request) {
  for (std::size_t i = 0; i < loaded.model.heads().size(); ++i) {
    const models::HeadChoice& head = loaded.model.heads()[i];
    INFO(head.name);
    const std::vector<double> right = summed(tracks, head, loaded.model.head(head).bins.n_bins,
                                             request.sums[i], request.other_strand);
    const std::vector<double>& sums = got.at("sums." + head.name).doubles;
    REQUIRE(sums.size() >= right.size());
    const bool is_same =
        right.empty() || std::memcmp(sums.data(), right.data(), right.size() * sizeof(double)) == 0;
    CHECK(is_same);
  }
}

// Sums over parts of whole and of changed windows have the bytes of sums of fetched tracks.
inline void check_changed_sums(LoadedAlphaGenome& loaded) {
  const std::vector<Letters> windows = {long_window(1), long_window(2)};
  const std::int64_t n_fine = kLongWindow, n_coarse = kLongWindow / 8;
  struct Case {
    bool other_strand;
    std::vector<models::BinSum> fine, coarse;
  };
  // Near the middle, at both ends, in one window alone, in none, over most of a window, at places
  // far from each other.
  const std::vector<Case> cases = {
      {false, {{0, 1000, 1100, 1.0 / 3}, {1, 1010, 1011, 1}}, {{0, 0, n_coarse, 0.3}}},
      {true, {{0, 0, 5, 0.1}, {1, n_fine - 3, n_fine, 1}}, {{1, 5, 6, 1}, {0, 100, 140, 0.7}}},
      {false, {{1, 300, 420, 1}, {1, 310, 310, 1}}, {{1, 37, 52, 1}}},
      {false, {{0, 4, 4, 1}}, {{0, 3, 3, 1}}},
      {true, {{0, 0, n_fine, 0.25}, {1, 7, n_fine - 9, 0.5}}, {{0, 0, n_coarse, 1}}},
      {false,
       {{0, 1000, 1040, 1},
        {1, 1900, 1910, 0.5},
        {0, 60, 61, 1},
        {0, 2000, 2048, 1},
        {0, 1020, 1050, 2}},
       {{1, 200, 203, 1}}}};
  std::vector<models::KeptWindow> kept;
  const models::Outputs tracks = loaded.run(windows, {true, false, false, &kept});
  const std::vector<Letters> letters = {with_letters(windows[0], 1024, 1),
                                        with_letters(windows[1], 320, 12)};
  const models::Outputs changed_tracks = loaded.run(letters, {});
  std::vector<models::ChangedWindow> changed;
  for (std::size_t i = 0; i < 2; ++i) {
    REQUIRE(loaded.model.is_near(windows[i], letters[i]));
    changed.push_back({&kept[i], letters[i]});
  }
  models::DnaModel::Request request;
  request.tracks = false;
  const std::size_t n_bytes_of_all = loaded.model.measure(2, {});
  for (const Case& of : cases) {
    request.sums.clear();
    for (const models::HeadChoice& head : loaded.model.heads())
      request.sums.push_back(loaded.model.head(head).bins.bin_size == 1
                                 ? std::span<const models::BinSum>(of.fine)
                                 : std::span<const models::BinSum>(of.coarse));
    request.other_strand = of.other_strand;
    check_same_sums_of_heads(loaded, loaded.run(windows, request), tracks, request);
    check_same_sums_of_heads(loaded, loaded.model.run_changed(changed, request), changed_tracks,
                             request);
  }
  CHECK(loaded.model.measure(2, request) < n_bytes_of_all * 3 / 4);  // of the last, parts alone
  // The substitutions matter.
  CHECK(changed_tracks.at("tracks.rna_seq/1").values != tracks.at("tracks.rna_seq/1").values);
}

// Tracks of changed windows have the bytes of a whole pass.
inline void check_changed_tracks(LoadedAlphaGenome& loaded) {
  const std::vector<Letters> windows = {long_window(1), long_window(2)};
  std::vector<models::KeptWindow> kept;
  loaded.run(windows, {true, false, false, &kept});
  const std::vector<Letters> letters = {with_letters(windows[0], 600, 1),
                                        with_letters(windows[1], 2047, 1)};
  const std::vector<models::ChangedWindow> changed = {{&kept[0], letters[0]},
                                                      {&kept[1], letters[1]}};
  const models::Outputs got = loaded.model.run_changed(changed, {});
  const models::Outputs right = loaded.run(letters, {});
  REQUIRE(got.arrays().size() == right.arrays().size());
  for (const models::Outputs::Array& array : right.arrays()) {
    INFO(array.name);
    CHECK(got.at(array.name).shape == array.shape);
    const bool is_same = got.at(array.name).values == array.values;
    CHECK(is_same);
  }
}

inline models::AlphaGenome::Options rows_options() {
  models::AlphaGenome::Options options;
  options.n_bases = kLongWindow;
  options.weights.heads = {{"rna_seq/1", {3, 0, 4}},
                           {"dnase/128", {}},
                           {"contact_maps", {}},
                           {"splice_sites", {}},
                           {"splice_junctions", {}}};
  return options;
}

// rows.NAME of a pass over windows have the bytes of tracks.NAME of another.
inline void check_same_rows(LoadedAlphaGenome& loaded, const models::Outputs& got,
                            const models::Outputs& tracks, std::size_t head,
                            std::span<const models::BinRows> wanted) {
  const models::HeadChoice& choice = loaded.model.heads()[head];
  INFO(choice.name);
  const models::TrackHead& of_head = loaded.model.head(choice);
  const bool is_map = !of_head.row_shape.empty();
  const std::int64_t n_bins = is_map ? of_head.row_shape.front() : of_head.bins.n_bins;
  const io::SharedArray &rows = got.at("rows." + choice.name).values,
                        &all = tracks.at("tracks." + choice.name).values;
  const std::size_t of_window = rows.size() / wanted.size(), of_all = all.size() / wanted.size();
  const auto width = static_cast<std::size_t>(got.at("rows." + choice.name).shape[1]);
  bool is_same = true;
  for (std::size_t w = 0; w < wanted.size(); ++w) {
    std::size_t row = 0;
    for (std::int64_t bin = wanted[w].begin; bin < wanted[w].end; ++bin)
      for (std::int64_t other = 0; other < (is_map ? n_bins : 1); ++other, ++row) {
        const auto from = static_cast<std::size_t>(is_map ? other * n_bins + bin : bin);
        is_same = is_same &&
                  std::memcmp(rows.data() + w * of_window + row * width,
                              all.data() + w * of_all + from * width, width * sizeof(float)) == 0;
      }
    CHECK(row * width <= of_window);
  }
  CHECK(is_same);
  CHECK(got.find("tracks." + choice.name) == nullptr);
}

// Counts of junctions between sites among some bases of a window.
inline std::vector<float> counts_between(LoadedAlphaGenome& loaded,
                                         const models::SiteWindow& window,
                                         const models::SpliceSites& sites) {
  const models::Outputs outputs =
      loaded.model.run_junctions(window, sites, models::alphagenome::own_rows(sites));
  const io::SharedArray& counts = outputs.at("junctions").values;
  return {counts.begin(), counts.end()};
}

// Rows of tracks and sites of parts of whole and of changed windows have the bytes of whole passes.
// n_cases: of those that there are, for devices where a pass takes long.
inline void check_changed_rows(LoadedAlphaGenome& loaded, std::size_t n_cases = 4) {
  using Rows = std::vector<models::BinRows>;
  const std::vector<Letters> windows = {long_window(1), long_window(2)};
  std::vector<models::KeptWindow> kept;
  std::vector<models::SiteWindow> whole_sites;
  loaded.model.reserve_sites(8);
  loaded.model.reserve_kept(2);
  models::DnaModel::Request all{true, false, false, &kept};
  all.sites = &whole_sites;
  const models::Outputs tracks = loaded.run(windows, all);
  const std::vector<Letters> letters = {with_letters(windows[0], 1024, 1),
                                        with_letters(windows[1], 320, 12)};
  all.kept = nullptr;
  const models::Outputs changed_tracks = loaded.run(letters, all);
  const std::vector<models::ChangedWindow> changed = {{&kept[0], letters[0]},
                                                      {&kept[1], letters[1]}};
  struct Case {
    Rows fine, sites, coarse, contacts;
  };
  // Near the middle, at both ends and of one window alone, of heads without bases, of all bases.
  const std::vector<Case> cases = {
      {{{1000, 1100}, {980, 981}}, {{1010, 1090}, {900, 1020}}, {{0, 256}, {3, 4}}, {}},
      {{{0, 3}, {2040, 2048}}, {{20, 90}, {0, 0}}, {}, {{7, 8}, {0, 0}}},
      {{}, {}, {{20, 30}, {0, 0}}, {{0, 2}, {15, 16}}},
      {{{0, 2048}, {5, 5}}, {{0, 2048}, {7, 2000}}, {}, {{5, 9}, {3, 16}}}};
  const auto ascending = [](const models::BinRows& bases) {
    models::SpliceSites sites;
    for (std::size_t c = 0; c < sites.size(); ++c)
      for (std::int64_t base = bases.begin + static_cast<std::int64_t>(c); base < bases.end;
           base += 11)
        sites[c].push_back(static_cast<std::int32_t>(base));
    return sites;
  };
  for (const Case& of : std::span(cases).first(n_cases)) {
    const std::vector<const Rows*> of_heads = {&of.fine, &of.coarse, &of.contacts, &of.fine};
    const auto check = [&](const auto& run, const models::Outputs& right, std::size_t first_site) {
      std::vector<models::SiteWindow> sites;
      models::DnaModel::Request request;
      request.tracks = false;
      for (const Rows* rows : of_heads) request.rows.emplace_back(*rows);
      request.rows.emplace_back();
      request.site_bases = of.sites;
      if (!of.sites.empty()) request.sites = &sites;
      const models::Outputs got = run(request);
      for (std::size_t i = 0; i < of_heads.size(); ++i)
        if (of_heads[i]->empty())
          CHECK(got.find("rows." + loaded.model.heads()[i].name) == nullptr);
        else
          check_same_rows(loaded, got, right, i, *of_heads[i]);
      REQUIRE(sites.size() == of.sites.size());
      for (std::size_t w = 0; w < sites.size(); ++w) {
        const models::SiteWindow& whole = whole_sites[first_site + w];
        const std::size_t first = static_cast<std::size_t>(sites[w].first) * 5;
        if (of.sites[w].size() > 0) CHECK(sites[w].first <= of.sites[w].begin);
        if (of.sites[w].begin > 800) CHECK(sites[w].first > 0);  // a part of the window
        for (std::int64_t i = of.sites[w].begin * 5; i < of.sites[w].end * 5; ++i) {
          const auto place = static_cast<std::size_t>(i);
          REQUIRE(sites[w].probabilities.begin()[place - first] ==
                  whole.probabilities.begin()[place]);
        }
        const models::SpliceSites chosen = ascending(of.sites[w]);
        if (chosen[0].empty()) continue;
        CHECK(counts_between(loaded, sites[w], chosen) == counts_between(loaded, whole, chosen));
      }
    };
    check([&](const auto& request) { return loaded.run(windows, request); }, tracks, 0);
    check([&](const auto& request) { return loaded.model.run_changed(changed, request); },
          changed_tracks, 2);
  }
  // A base that was not computed; rows that are not of a window, or not of each.
  const Rows bases = {{1000, 1010}};
  std::vector<models::SiteWindow> sites;
  models::DnaModel::Request request;
  request.tracks = false;
  request.sites = &sites;
  request.site_bases = bases;
  loaded.run({windows[0]}, request);
  CHECK_THROWS_AS(counts_between(loaded, sites[0], ascending({0, 40})), std::out_of_range);
  request.sites = nullptr;
  for (const Rows& wrong : {Rows{{0, 2049}}, Rows{{5, 4}}, Rows{{-1, 4}}, Rows{{0, 1}, {0, 1}}}) {
    request.rows.assign(5, {});
    for (const std::size_t head : {std::size_t{0}, std::size_t{2}}) {
      request.rows[head] = wrong;
      CHECK_THROWS(loaded.run({windows[0]}, request));
      request.rows[head] = {};
    }
  }
}

}  // namespace biogpu::test
