#include "lib/tasks/dna/compare.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "lib/ops/reference_context.hpp"
#include "lib/tasks/dna/tracks.hpp"
#include "tests/support/catch.hpp"

using namespace biogpu;
using models::DnaModel;

namespace {

constexpr std::int64_t kBins = 5, kBinSize = 4, kWindow = kBins * kBinSize;
constexpr std::int64_t kTracks = 1300;  // of the first head: several jobs, the last not full

// Tracks are fractions of a bin's letters, whose sums depend on their order. What it keeps of a
// window is the same for each bin, so that a wrong window, or none, shows in the result.
class ToyModel final : public DnaModel {
 public:
  explicit ToyModel(tensor::Context& context) : DnaModel(context) {
    info_.window = kWindow;
    info_.bin_size = kBinSize;
    info_.n_bins = kBins;
    info_.heads = {{"human", kTracks}, {"mouse", 3}};
    heads_ = {{"human", {}}, {"mouse", {0, 2, 1}, {1, 0}}};
  }
  std::string describe() const override { return {}; }

  models::Outputs run(std::span<const std::uint8_t> letters, const Request& request) override {
    std::vector<float> rows;
    for (std::size_t bin = 0; bin < letters.size() / kBinSize; ++bin)
      rows.push_back(row_of(letters.subspan(bin * kBinSize, kBinSize)));
    if (request.keep) most_kept = std::max(most_kept, rows.size() / kBins);
    return outputs_of(rows, request.keep);
  }
  bool is_near(std::span<const std::uint8_t> kept,
               std::span<const std::uint8_t> changed) const override {
    return n_differing(kept, changed) <= 2;
  }
  models::Outputs run_changed(std::span<const models::ChangedWindow> windows,
                              const Request& request) override {
    std::set<const models::KeptWindow*> kept;
    std::vector<float> rows;
    for (const models::ChangedWindow& window : windows) {
      kept.insert(window.kept);
      const io::SharedArray& all = window.kept->arrays.at("kept.rows").values;
      for (std::size_t bin = 0; bin < kBins; ++bin) {
        const auto now = window.letters.subspan(bin * kBinSize, kBinSize);
        const auto before = std::span(window.kept->letters).subspan(bin * kBinSize, kBinSize);
        rows.push_back(n_differing(before, now) == 0 ? all[bin] : row_of(now));
      }
    }
    n_changed += windows.size();
    most_kept = std::max(most_kept, kept.size());
    return outputs_of(rows, request.keep);
  }
  std::size_t measure(std::int64_t n_windows, const Request& request) const override {
    return static_cast<std::size_t>(n_windows) * (5000 + (request.keep ? kKeptBytes : 0));
  }

  static constexpr std::size_t kKeptBytes = kBins * sizeof(float);
  std::size_t n_changed = 0, most_kept = 0;  // windows computed from kept ones; kept at a time

 private:
  static float row_of(std::span<const std::uint8_t> letters) {
    float row = 0;
    for (const std::uint8_t letter : letters) row = 1.7f * row + 0.3f * static_cast<float>(letter);
    return row;
  }
  static std::size_t n_differing(std::span<const std::uint8_t> x, std::span<const std::uint8_t> y) {
    std::size_t n = 0;
    for (std::size_t i = 0; i < x.size(); ++i) n += x[i] != y[i] ? 1 : 0;
    return n;
  }
  models::Outputs outputs_of(const std::vector<float>& rows, bool keep) const {
    models::Outputs outputs;
    const auto n_rows = static_cast<std::int64_t>(rows.size());
    for (const auto& [name, width] : {std::pair("tracks.human", kTracks), {"tracks.mouse", 3L}}) {
      std::vector<float> values;
      for (const float row : rows)
        for (std::int64_t t = 0; t < width; ++t)
          values.push_back(std::sin(row + 0.01f * static_cast<float>(t)) / 3);
      outputs.add({name, {n_rows, width}, values});
    }
    if (keep) outputs.add({"kept.rows", {n_rows, 1}, rows});
    return outputs;
  }
};

// Windows of different letters, each with alternates of which the last is far from it.
std::vector<tasks::Comparison> comparisons() {
  std::vector<tasks::Comparison> all;
  for (std::size_t c = 0; c < 5; ++c) {
    const auto write = [c](std::size_t i, std::int64_t shift,
                           std::span<genome::LetterCode> letters) {
      for (std::size_t k = 0; k < letters.size(); ++k) {
        const std::size_t at = k + static_cast<std::size_t>(20 + shift);
        letters[k] = static_cast<genome::LetterCode>((at * at + c * at / 3 + c) % 4);
        const bool changed = i == 3 ? k % 2 == 0 : i > 0 && at == 25 + 3 * i + c;
        if (changed) letters[k] = static_cast<genome::LetterCode>((letters[k] + 1) % 4);
      }
    };
    all.push_back({write, {{{0, kBins}, {2, 3}}, {{0, kBins}, {2, 3}}, {{1, 4}, {4, 4}}}});
  }
  return all;
}

std::vector<std::vector<double>> numbers_of(const std::vector<tasks::Compared>& compared) {
  std::vector<std::vector<double>> numbers;
  for (const tasks::Compared& one : compared) {
    numbers.push_back(one.reference);
    numbers.push_back(one.alternate);
  }
  return numbers;
}

tasks::CompareOptions all_views() {
  tasks::CompareOptions options;
  options.both_strands = true;
  options.shifts = {-1, 0, 2};
  options.windows_per_pass = 3;
  return options;
}

}  // namespace

TEST_CASE("tasks.compare_windows: what is kept stays below its bound", "[tasks]") {
  const auto context = ops::make_reference_context();
  const std::vector<tasks::Comparison> windows = comparisons();
  ToyModel whole(*context);
  tasks::CompareOptions options = all_views();
  options.reuse = false;
  const auto right = numbers_of(tasks::compare_windows(whole, windows, options));
  CHECK(whole.n_changed == 0);
  options.reuse = true;
  // None, one, one, two, and as many as a pass has.
  const auto [quarters, most] = GENERATE(values<std::pair<std::size_t, std::size_t>>(
      {{0, 0}, {3, 0}, {4, 1}, {7, 1}, {8, 2}, {400, 3}}));
  options.max_kept_bytes = quarters * ToyModel::kKeptBytes / 4;
  ToyModel model(*context);
  CHECK(numbers_of(tasks::compare_windows(model, windows, options)) == right);
  CHECK(model.most_kept == most);
  // Of two alternates each, on both strands of three shifts.
  CHECK(model.n_changed == (most == 0 ? 0 : windows.size() * 2 * 6));
}

TEST_CASE("tasks.compare_windows: any number of threads gives the same bytes", "[tasks]") {
  const auto context = ops::make_reference_context();
  const std::vector<tasks::Comparison> windows = comparisons();
  tasks::CompareOptions options = all_views();
  options.reduction = GENERATE(tasks::Reduction::mean, tasks::Reduction::sum);
  ToyModel model(*context);
  const auto right = numbers_of(tasks::compare_windows(model, windows, options));
  for (options.n_threads = 2; options.n_threads <= 3; ++options.n_threads)
    CHECK(numbers_of(tasks::compare_windows(model, windows, options)) == right);
  // All bins of the first reference as it is, by hand.
  options.both_strands = false;
  options.shifts = {0};
  std::vector<genome::LetterCode> letters(kWindow);
  windows[0].write_letters(0, 0, letters);
  const models::Outputs outputs = model.run(letters, {});
  const io::SharedArray& tracks = outputs.at("tracks.human").values;
  const double factor = options.reduction == tasks::Reduction::mean ? 1.0 / kBins : 1.0;
  const std::vector<double> got = tasks::compare_windows(model, windows, options)[0].reference;
  for (std::size_t t = 0; t < kTracks; ++t) {
    double sum = 0;
    for (std::size_t bin = 0; bin < kBins; ++bin)
      sum += factor * static_cast<double>(tracks[bin * kTracks + t]);
    REQUIRE(got[t] == sum);
  }
}

TEST_CASE("tasks.compute_tracks: any number of threads averages strands alike", "[tasks]") {
  const auto context = ops::make_reference_context();
  ToyModel model(*context);
  tasks::DnaWindows windows{{"a", "b"}, {}};
  for (std::int64_t i = 0; i < 2 * kWindow; ++i)
    windows.letters.push_back(static_cast<genome::LetterCode>(i * i % 7 % 4));
  tasks::TrackOptions options;
  options.both_strands = true;
  const auto run = [&](int n_threads) {
    options.n_threads = n_threads;
    pipeline::RecordOutputs result;
    tasks::compute_tracks(model, windows, options, result);
    std::vector<std::vector<float>> arrays;
    for (const io::NamedArray& array : result.arrays)
      arrays.emplace_back(array.values.begin(), array.values.end());
    return arrays;
  };
  const auto right = run(1);
  REQUIRE(right.size() == 4);
  CHECK(right[1].size() == kBins * 2);  // of the second head, the tracks of the output
  CHECK(run(2) == right);
  CHECK(run(3) == right);
}
