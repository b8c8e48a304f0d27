#include "lib/tasks/dna/compare.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "lib/core/error.hpp"
#include "lib/ops/reference_context.hpp"
#include "lib/tasks/dna/tracks.hpp"
#include "tests/support/catch.hpp"

using namespace biogpu;
using models::DnaModel;

namespace {

constexpr std::int64_t kBins = 5, kBinSize = 4, kWindow = kBins * kBinSize;
constexpr models::BinGrid kGrid{kBinSize, 0, kBins};
constexpr std::int64_t kTracks = 1300;  // of the first head: several jobs, the last not full

// Tracks are fractions of a bin's letters, whose sums depend on their order. What it keeps of a
// window is the same for each bin, so that a wrong window, or none, shows in the result.
class ToyModel final : public DnaModel {
 public:
  explicit ToyModel(tensor::Context& context)
      : DnaModel(context, {{tensor::DType::f32, kBins, 1}}) {
    info_.window = kWindow;
    info_.heads = {{"human", kTracks, kGrid}, {"mouse", 3, kGrid}};
    heads_ = {{"human", {}}, {"mouse", {0, 2, 1}, {1, 0}}};
  }
  std::string describe() const override { return {}; }

  models::Outputs run(std::span<const std::uint8_t> letters, const Request& request) override {
    std::vector<float> rows;
    for (std::size_t bin = 0; bin < letters.size() / kBinSize; ++bin)
      rows.push_back(row_of(letters.subspan(bin * kBinSize, kBinSize)));
    if (request.kept != nullptr) keep(letters, rows, *request.kept);
    return outputs_of(rows, request);
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
      const float* const all = kept_store_.rows(0, *window.kept->slot).as<float>();
      for (std::size_t bin = 0; bin < kBins; ++bin) {
        const auto now = window.letters.subspan(bin * kBinSize, kBinSize);
        const auto before = std::span(window.kept->letters).subspan(bin * kBinSize, kBinSize);
        rows.push_back(n_differing(before, now) == 0 ? all[bin] : row_of(now));
      }
    }
    n_changed += windows.size();
    most_kept = std::max(most_kept, kept.size());
    return outputs_of(rows, request);
  }
  std::size_t measure(std::int64_t n_windows, const Request&) const override {
    return static_cast<std::size_t>(n_windows) * 5000;
  }

  static constexpr std::size_t kKeptBytes = kBins * sizeof(float);
  std::size_t n_changed = 0, most_kept = 0;  // windows computed from kept ones; kept at a time

 private:
  void keep(std::span<const std::uint8_t> letters, const std::vector<float>& rows,
            std::vector<models::KeptWindow>& kept) {
    const std::size_t n = letters.size() / kWindow;
    most_kept = std::max(most_kept, n);
    const std::vector<models::KeptStore::Slot> slots = kept_store_.take(n);
    for (std::size_t w = 0; w < n; ++w) {
      const auto of_window = letters.subspan(w * kWindow, kWindow);
      std::copy_n(rows.begin() + w * kBins, kBins, kept_store_.rows(0, *slots[w]).as<float>());
      kept.push_back({{of_window.begin(), of_window.end()}, slots[w]});
    }
  }
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
  models::Outputs outputs_of(const std::vector<float>& rows, const Request& request) const {
    models::Outputs outputs;
    const auto n_rows = static_cast<std::int64_t>(rows.size());
    for (std::size_t h = 0; h < heads_.size(); ++h) {
      const models::HeadChoice& head = heads_[h];
      const std::int64_t width = head.name == "human" ? kTracks : 3;
      std::vector<float> values;
      for (const float row : rows)
        for (std::int64_t t = 0; t < width; ++t)
          values.push_back(std::sin(row + 0.01f * static_cast<float>(t)) / 3);
      if (!request.sums.empty()) outputs.add(sums_of(h, values, width, request));
      if (request.tracks) outputs.add({"tracks." + head.name, {n_rows, width}, values});
    }
    return outputs;
  }
  // With a row more than there are sums, as passes have it.
  models::Outputs::Array sums_of(std::size_t h, const std::vector<float>& tracks,
                                 std::int64_t width, const Request& request) const {
    const models::HeadChoice& head = heads_[h];
    const auto n = static_cast<std::int64_t>(request.sums[h].size() + 1);
    const auto d = head.other_strand.empty() ? width : std::ssize(head.other_strand);
    models::Outputs::Array array{"sums." + head.name, {n, d}, {}, {}};
    array.doubles.resize(static_cast<std::size_t>(n * d));
    auto out = array.doubles.begin();
    for (const models::BinSum& sum : request.sums[h])
      for (std::size_t t = 0; t < static_cast<std::size_t>(d); ++t, ++out)
        for (std::int64_t bin = sum.begin; bin < sum.end; ++bin) {
          const bool exchanged = request.other_strand && !head.other_strand.empty();
          const std::size_t row = sum.window * kBins + static_cast<std::size_t>(bin);
          *out += sum.factor * static_cast<double>(tracks[row * static_cast<std::size_t>(width) +
                                                          (exchanged ? head.other_strand[t] : t)]);
        }
    return array;
  }
};

// Its only head has rows of pairs of bins.
class PairModel final : public DnaModel {
 public:
  explicit PairModel(tensor::Context& context) : DnaModel(context) {
    info_.window = kWindow;
    info_.heads = {{"contacts", 2, kGrid, ops::Activation::none, "pairs of bins"}};
    heads_ = {{"contacts", {}}};
  }
  std::string describe() const override { return {}; }
  models::Outputs run(std::span<const std::uint8_t> letters, const Request&) override {
    std::vector<float> values(letters.size() / kWindow * kBins * kBins * 2);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
    models::Outputs outputs;
    outputs.add({"tracks.contacts", {std::ssize(letters) / kBinSize, kBins, 2}, values});
    return outputs;
  }
  std::size_t measure(std::int64_t, const Request&) const override { return 0; }
};

// Bins [begin, end) of a window that is not shifted.
tasks::BinTarget bins(std::int64_t begin, std::int64_t end) {
  return {tasks::BinTarget::Kind::covering, begin * kBinSize, end * kBinSize, 0};
}

// Windows of different letters, each with alternates of which the last is far from it.
std::vector<tasks::Comparison> comparisons() {
  const tasks::BinTarget whole;
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
    all.push_back({write, {{whole, bins(2, 3)}, {whole, bins(2, 3)}, {bins(1, 4), bins(4, 4)}}});
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
  ToyModel model(*context);
  REQUIRE(tasks::kept_bytes(model) == ToyModel::kKeptBytes + 2 * kWindow);
  options.max_kept_bytes = quarters * tasks::kept_bytes(model) / 4;
  CHECK(numbers_of(tasks::compare_windows(model, windows, options)) == right);
  CHECK(model.most_kept == most);
  // Of two alternates each, on both strands of three shifts.
  CHECK(model.n_changed == (most == 0 ? 0 : windows.size() * 2 * 6));
}

TEST_CASE("tasks.compare_windows: sums and means of both strands, by hand", "[tasks]") {
  const auto context = ops::make_reference_context();
  const std::vector<tasks::Comparison> windows = comparisons();
  tasks::CompareOptions options;
  options.both_strands = GENERATE(false, true);
  options.reduction = GENERATE(tasks::Reduction::mean, tasks::Reduction::sum);
  ToyModel model(*context);
  const auto got = tasks::compare_windows(model, windows, options);
  const auto sum_of = [&](std::size_t c, std::size_t i, tasks::BinRange range, std::size_t track,
                          bool reverse) {
    std::vector<genome::LetterCode> letters(kWindow);
    windows[c].write_letters(i, 0, letters);
    if (reverse) genome::reverse_complement(letters);
    const models::Outputs outputs = model.run(letters, {});
    const bool human = track < kTracks;
    const std::size_t of_mouse = track - kTracks, width = human ? kTracks : 3;
    const io::SharedArray& tracks = outputs.at(human ? "tracks.human" : "tracks.mouse").values;
    const std::size_t column = human ? track : reverse ? 1 - of_mouse : of_mouse;
    const double factor = options.reduction == tasks::Reduction::mean && range.end > range.begin
                              ? 1.0 / static_cast<double>(range.end - range.begin)
                              : 1.0;
    if (reverse) range = {kBins - range.end, kBins - range.begin};
    double sum = 0;
    for (std::int64_t bin = range.begin; bin < range.end; ++bin)
      sum += factor * static_cast<double>(tracks[static_cast<std::size_t>(bin) * width + column]);
    return sum;
  };
  constexpr std::size_t kOutput = kTracks + 2;  // tracks of both heads
  for (std::size_t c = 0; c < windows.size(); ++c)
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t r = 0; r < 2; ++r)
        for (const std::size_t track : {0, 64, 1299, 1300, 1301})
          for (const bool alternate : {false, true}) {
            const tasks::BinRange range = tasks::find_bins(windows[c].targets[i][r], kGrid, 0);
            const std::size_t of = alternate ? i + 1 : 0;
            double right = sum_of(c, of, range, track, false);
            if (options.both_strands) right = (right + sum_of(c, of, range, track, true)) / 2;
            const tasks::Compared& one = got[3 * c + i];
            REQUIRE((alternate ? one.alternate : one.reference)[r * kOutput + track] == right);
          }
}

TEST_CASE("tasks.find_bins: bins of a shifted window hold the target's bases", "[tasks]") {
  const models::BinGrid grid{6, 7, 5};
  const auto holds = [&](std::int64_t bin, std::int64_t base, std::int64_t shift) {
    const std::int64_t begin = shift + grid.first_base + bin * grid.bin_size;
    return base >= begin && base < begin + grid.bin_size;
  };
  for (std::int64_t shift = -40; shift <= 40; ++shift) {
    CHECK(tasks::find_bins({}, grid, shift) == tasks::BinRange{0, grid.n_bins});
    for (std::int64_t base = -10; base < 70; ++base) {
      const auto find = [&](std::int64_t width) {
        return tasks::find_bins({tasks::BinTarget::Kind::around, base, base + 1, width}, grid,
                                shift);
      };
      const tasks::BinRange one = find(1), three = find(3);
      for (std::int64_t bin = 0; bin < grid.n_bins; ++bin) {
        REQUIRE((bin >= one.begin && bin < one.end) == holds(bin, base, shift));
        const bool near =
            holds(bin - 1, base, shift) || holds(bin, base, shift) || holds(bin + 1, base, shift);
        REQUIRE((bin >= three.begin && bin < three.end) == near);
      }
      for (const std::int64_t size : {0, 1, 5, 13}) {
        const tasks::BinRange range =
            tasks::find_bins({tasks::BinTarget::Kind::covering, base, base + size, 0}, grid, shift);
        for (std::int64_t bin = 0; bin < grid.n_bins; ++bin) {
          bool any = false;
          for (std::int64_t at = base; at < base + size; ++at) any = any || holds(bin, at, shift);
          REQUIRE((bin >= range.begin && bin < range.end) == any);
        }
      }
    }
  }
}

TEST_CASE("tasks.compare_windows: windows without bins of a target do not count", "[tasks]") {
  const auto context = ops::make_reference_context();
  std::vector<tasks::Comparison> windows = comparisons();
  windows.resize(1);
  const tasks::BinTarget last = bins(kBins - 1, kBins), gone = bins(kBins + 40, kBins + 41);
  windows[0].targets = {{last, gone}, {last, gone}, {last, gone}};
  ToyModel model(*context);
  const auto run = [&](std::vector<std::int64_t> shifts) {
    tasks::CompareOptions options;
    options.shifts = std::move(shifts);
    options.windows_per_pass = 2;
    return numbers_of(tasks::compare_windows(model, windows, options));
  };
  // A shift to the left moves the last bin out of the window; one to the right makes it the last
  // but one, of the same letters.
  const auto right = run({0});
  CHECK(run({0, -kBinSize}) == right);
  CHECK(run({kBinSize, 0}) == right);
  CHECK(run({1, 0}) != right);
  CHECK(std::all_of(right[0].begin() + kTracks + 2, right[0].end(),
                    [](double value) { return value == 0; }));
}

TEST_CASE("tasks.compare_windows: nothing is added up where there are no ranges", "[tasks]") {
  const auto context = ops::make_reference_context();
  std::vector<tasks::Comparison> windows = comparisons();
  for (tasks::Comparison& window : windows) window.targets = {{}, {}, {}};
  ToyModel model(*context);
  for (const tasks::Compared& one : tasks::compare_windows(model, windows, all_views()))
    CHECK((one.reference.empty() && one.alternate.empty()));
}

TEST_CASE("tasks.dna: a head of pairs of bins has arrays alone", "[tasks]") {
  const auto context = ops::make_reference_context();
  PairModel model(*context);
  const tasks::DnaWindows windows{{"a", "b"}, std::vector<genome::LetterCode>(2 * kWindow)};
  tasks::TrackOptions options;
  options.windows_per_pass = 2;
  pipeline::RecordOutputs result;
  tasks::compute_tracks(model, windows, options, result);
  REQUIRE(result.arrays.size() == 2);
  CHECK(result.arrays[1].shape == std::vector<std::int64_t>{kBins, kBins, 2});
  CHECK(result.arrays[1].values[0] == kBins * kBins * 2);
  options.both_strands = true;
  CHECK_THROWS_AS(tasks::compute_tracks(model, windows, options, result), Error);
  CHECK_THROWS_AS(tasks::compare_windows(model, comparisons(), all_views()), Error);
}

TEST_CASE("tasks.compute_tracks: any number of threads averages strands alike", "[tasks]") {
  const auto context = ops::make_reference_context();
  ToyModel model(*context);
  tasks::DnaWindows windows{{"a", "b"}, {}};
  for (std::int64_t i = 0; i < 2 * kWindow; ++i)
    windows.letters.push_back(static_cast<genome::LetterCode>(i * i % 7 % 4));
  tasks::TrackOptions options;
  options.both_strands = true;
  options.windows_per_pass = GENERATE(1, 2);
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
