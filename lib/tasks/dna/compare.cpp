#include "lib/tasks/dna/compare.hpp"

#include <algorithm>
#include <utility>

#include "lib/core/parallel_for.hpp"
#include "lib/tasks/dna/window_parts.hpp"

namespace biogpu::tasks {
namespace {

using genome::LetterCode;
using models::DnaModel;
using models::KeptWindow;

// A way to look at a window; predictions are the mean over all of them.
struct View {
  std::int64_t shift = 0;
  bool reverse = false;
};

// Near windows leave out nearly all of the tower: more of them take as long as one window.
constexpr std::int64_t kNearTimes = 8;

// Tracks that a thread adds up at a time: runs of 2 KB in rows of bins.
constexpr std::size_t kTracksOfJob = 512;

class Comparer {
 public:
  Comparer(DnaModel& model, std::span<const Comparison> comparisons, const CompareOptions& options)
      : model_(model),
        comparisons_(comparisons),
        options_(options),
        length_(static_cast<std::size_t>(model.info().window)),
        n_tracks_(count_tracks(model)),
        reuse_(options.reuse),
        n_references_(static_cast<std::size_t>(options.windows_per_pass)) {
    if (reuse_) bound_kept();
  }

  std::vector<Compared> run();

 private:
  struct Reference {
    std::size_t comparison;
    std::vector<std::uint8_t> letters;
    KeptWindow kept;
  };

  void bound_kept();
  // Predictions of a head for one window.
  struct HeadBins {
    const float* values;  // [bins, width]
    std::size_t width;
    const std::size_t* other_strand;  // of each track, which one to take, or null
  };

  void run_view(const View& view, std::size_t first, std::size_t n);
  std::vector<std::uint8_t> letters_of(std::size_t comparison, std::size_t i,
                                       const View& view) const;
  void run_references(const View& view, std::vector<Reference>& references);
  void run_alternates(const View& view, const std::vector<Reference>& references);
  void add(std::vector<double>& sums, const models::Outputs& outputs, std::size_t window,
           std::size_t n_windows, const std::vector<BinRange>& ranges, const View& view) const;
  BinRange turned(const BinRange& range, const View& view) const;
  void add_tracks(const HeadBins& bins, const BinRange& range, std::size_t begin, std::size_t end,
                  double* to) const;

  DnaModel& model_;
  std::span<const Comparison> comparisons_;
  const CompareOptions& options_;
  const std::size_t length_, n_tracks_;
  bool reuse_;
  std::size_t n_references_;               // of a pass, and kept at a time
  std::vector<std::size_t> first_result_;  // of each comparison
  std::vector<Compared> results_;
};

std::vector<Compared> Comparer::run() {
  for (const Comparison& comparison : comparisons_) {
    first_result_.push_back(results_.size());
    for (const std::vector<BinRange>& ranges : comparison.ranges) {
      const std::vector<double> zeros(ranges.size() * n_tracks_);
      results_.push_back({zeros, zeros});
    }
  }
  std::vector<View> views;
  for (const std::int64_t shift : options_.shifts) {
    views.push_back({shift, false});
    if (options_.both_strands) views.push_back({shift, true});
  }
  for (std::size_t first = 0; first < comparisons_.size(); first += n_references_)
    for (const View& view : views)
      run_view(view, first, std::min(n_references_, comparisons_.size() - first));
  const double n = static_cast<double>(views.size());
  for (Compared& result : results_)
    for (std::vector<double>* sums : {&result.reference, &result.alternate})
      for (double& sum : *sums) sum /= n;
  return std::move(results_);
}

// References are dropped when all that is compared with them is done: as many as fit are kept.
void Comparer::bound_kept() {
  DnaModel::Request keeps;
  keeps.keep = true;
  const std::size_t without = model_.measure(1, {}), with = model_.measure(1, keeps);
  if (with <= without) return;  // it keeps nothing
  const std::uint64_t n_fitting = options_.max_kept_bytes / (with - without);
  reuse_ = n_fitting > 0;
  if (reuse_)
    n_references_ = static_cast<std::size_t>(std::min<std::uint64_t>(n_references_, n_fitting));
}

void Comparer::run_view(const View& view, std::size_t first, std::size_t n) {
  std::vector<Reference> references;
  for (std::size_t c = first; c < first + n; ++c)
    references.push_back({c, letters_of(c, 0, view), {}});
  run_references(view, references);
  run_alternates(view, references);
}

std::vector<std::uint8_t> Comparer::letters_of(std::size_t comparison, std::size_t i,
                                               const View& view) const {
  std::vector<LetterCode> letters(length_);
  comparisons_[comparison].write_letters(i, view.shift, letters);
  if (view.reverse) genome::reverse_complement(letters);
  std::replace(letters.begin(), letters.end(), genome::kUnknownLetter, options_.unknown);
  return letters;
}

// The ranges of a comparison's alternates are often the same.
void Comparer::run_references(const View& view, std::vector<Reference>& references) {
  DnaModel::Request request;
  request.keep = reuse_;
  run_in_halves(0, references.size(), [&](std::size_t first, std::size_t n) {
    std::vector<std::uint8_t> letters;
    for (std::size_t r = first; r < first + n; ++r)
      letters.insert(letters.end(), references[r].letters.begin(), references[r].letters.end());
    const models::Outputs outputs = model_.run(letters, request);
    for (std::size_t w = 0; w < n; ++w) {
      Reference& reference = references[first + w];
      reference.kept = DnaModel::kept_window(outputs, w, n, reference.letters);
      const Comparison& comparison = comparisons_[reference.comparison];
      std::vector<double> sums;
      for (std::size_t i = 0; i < comparison.n_alternates(); ++i) {
        const std::vector<BinRange>& ranges = comparison.ranges[i];
        if (i == 0 || ranges != comparison.ranges[i - 1]) {
          sums.assign(ranges.size() * n_tracks_, 0);
          add(sums, outputs, w, n, ranges, view);
        }
        std::vector<double>& all = results_[first_result_[reference.comparison] + i].reference;
        for (std::size_t k = 0; k < sums.size(); ++k) all[k] += sums[k];
      }
    }
  });
}

void Comparer::run_alternates(const View& view, const std::vector<Reference>& references) {
  struct Window {
    const Reference* reference;
    std::size_t i;
    std::vector<std::uint8_t> letters;
  };
  const auto take = [&](const std::vector<Window>& windows, std::size_t first, std::size_t n,
                        const models::Outputs& outputs) {
    for (std::size_t w = 0; w < n; ++w) {
      const auto& [reference, i, letters] = windows[first + w];
      add(results_[first_result_[reference->comparison] + i].alternate, outputs, w, n,
          comparisons_[reference->comparison].ranges[i], view);
    }
  };
  const auto at_once = static_cast<std::size_t>(options_.windows_per_pass);
  std::vector<Window> near, other;
  const auto run_near = [&] {
    run_in_halves(0, near.size(), [&](std::size_t first, std::size_t n) {
      std::vector<models::ChangedWindow> changed;
      for (std::size_t w = first; w < first + n; ++w)
        changed.push_back({&near[w].reference->kept, near[w].letters});
      take(near, first, n, model_.run_changed(changed, {}));
    });
    near.clear();
  };
  const auto run_other = [&] {
    run_in_halves(0, other.size(), [&](std::size_t first, std::size_t n) {
      std::vector<std::uint8_t> letters;
      for (std::size_t w = first; w < first + n; ++w)
        letters.insert(letters.end(), other[w].letters.begin(), other[w].letters.end());
      DnaModel::Request request;
      take(other, first, n, model_.run(letters, request));
    });
    other.clear();
  };
  for (const Reference& reference : references)
    for (std::size_t i = 0; i < comparisons_[reference.comparison].n_alternates(); ++i) {
      Window window{&reference, i, letters_of(reference.comparison, i + 1, view)};
      if (reuse_ && model_.is_near(reference.letters, window.letters)) {
        near.push_back(std::move(window));
        if (near.size() == at_once * kNearTimes) run_near();
      } else {
        other.push_back(std::move(window));
        if (other.size() == at_once) run_other();
      }
    }
  if (!near.empty()) run_near();
  if (!other.empty()) run_other();
}

// Adds the reduced tracks of one of a pass's windows. Threads divide the tracks, each of which is
// summed in the order of its bins.
void Comparer::add(std::vector<double>& sums, const models::Outputs& outputs, std::size_t window,
                   std::size_t n_windows, const std::vector<BinRange>& ranges,
                   const View& view) const {
  std::size_t first_track = 0;
  for (const models::HeadChoice& head : model_.heads()) {
    const models::Outputs::Array& array = outputs.at("tracks." + head.name);
    const auto width = static_cast<std::size_t>(array.shape[1]);
    const std::size_t n_tracks = head.other_strand.empty() ? width : head.other_strand.size();
    const HeadBins bins{
        array.values.data() + window * (array.values.size() / n_windows), width,
        view.reverse && !head.other_strand.empty() ? head.other_strand.data() : nullptr};
    parallel_for_jobs(static_cast<std::size_t>(std::max(1, options_.n_threads)),
                      count_chunks(n_tracks, kTracksOfJob), [&](std::size_t, std::size_t job) {
                        const std::size_t begin = job * kTracksOfJob;
                        const std::size_t end = std::min(n_tracks, begin + kTracksOfJob);
                        for (std::size_t r = 0; r < ranges.size(); ++r)
                          add_tracks(bins, turned(ranges[r], view), begin, end,
                                     sums.data() + r * n_tracks_ + first_track);
                      });
    first_track += n_tracks;
  }
}

// On the reverse complement bins are in the opposite order.
BinRange Comparer::turned(const BinRange& range, const View& view) const {
  const std::int64_t n_bins = model_.info().n_bins;
  return view.reverse ? BinRange{n_bins - range.end, n_bins - range.begin} : range;
}

// Adds tracks [begin, end) of a range of bins.
void Comparer::add_tracks(const HeadBins& bins, const BinRange& range, std::size_t begin,
                          std::size_t end, double* to) const {
  const double factor = options_.reduction == Reduction::mean && range.end > range.begin
                            ? 1.0 / static_cast<double>(range.end - range.begin)
                            : 1.0;
  for (std::int64_t bin = range.begin; bin < range.end; ++bin) {
    const float* const row = bins.values + static_cast<std::size_t>(bin) * bins.width;
    for (std::size_t t = begin; t < end; ++t)
      to[t] += factor *
               static_cast<double>(row[bins.other_strand != nullptr ? bins.other_strand[t] : t]);
  }
}

}  // namespace

std::vector<Compared> compare_windows(DnaModel& model, std::span<const Comparison> comparisons,
                                      const CompareOptions& options) {
  return Comparer(model, comparisons, options).run();
}

std::size_t count_tracks(const DnaModel& model) {
  std::size_t n = 0;
  for (const models::HeadChoice& choice : model.heads()) {
    n += choice.other_strand.empty() ? choice.tracks.size() : choice.other_strand.size();
    if (!choice.tracks.empty() || !choice.other_strand.empty()) continue;  // else all
    for (const models::TrackHead& head : model.info().heads)
      if (head.name == choice.name) n += static_cast<std::size_t>(head.n_tracks);
  }
  return n;
}

}  // namespace biogpu::tasks
