#include "lib/tasks/dna/compare.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "lib/tasks/dna/window_parts.hpp"

namespace biogpu::tasks {
namespace {

using genome::LetterCode;
using models::DnaModel;
using models::KeptWindow;

// A way to look at a window; predictions are the mean over them.
struct View {
  std::int64_t shift = 0;
  bool reverse = false;
};

// Near windows leave out nearly all of the tower: more of them take as long as one window.
constexpr std::int64_t kNearTimes = 8;

class Comparer {
 public:
  Comparer(DnaModel& model, std::span<const Comparison> comparisons, const CompareOptions& options)
      : model_(model),
        comparisons_(comparisons),
        options_(options),
        length_(static_cast<std::size_t>(model.info().window)),
        n_tracks_(count_tracks(model)),
        grids_(model.grids()),
        reuse_(options.reuse),
        n_references_(static_cast<std::size_t>(options.windows_per_pass)) {
    std::size_t first_track = 0;
    for (const models::HeadChoice& choice : model.heads()) {
      const auto grid = std::find(grids_.begin(), grids_.end(), model.head(choice).bins);
      heads_.push_back({"sums." + choice.name, static_cast<std::size_t>(grid - grids_.begin()),
                        first_track, model.n_tracks(choice)});
      first_track += heads_.back().n_tracks;
    }
    if (reuse_) bound_kept();
  }

  std::vector<Compared> run();

 private:
  struct Reference {
    std::size_t comparison;
    std::vector<std::uint8_t> letters;
    KeptWindow kept;
  };
  struct Head {
    std::string output;
    std::size_t grid = 0;
    std::size_t first_track = 0, n_tracks = 0;  // of those of all heads
  };
  // As many for each grid, one after the other.
  using Sums = std::vector<std::vector<models::BinSum>>;

  void bound_kept();
  void run_view(const View& view, std::size_t first, std::size_t n);
  std::vector<std::uint8_t> letters_of(std::size_t comparison, std::size_t i,
                                       const View& view) const;
  void run_references(const View& view, std::vector<Reference>& references);
  void run_alternates(const View& view, const std::vector<Reference>& references);
  void append_sums(Sums& sums, std::size_t window, const std::vector<BinTarget>& targets,
                   const View& view) const;
  void divide_by_views(const std::vector<View>& views);
  DnaModel::Request request_for(const Sums& sums, const View& view) const;
  void add(std::vector<double>& to, const models::Outputs& outputs, std::size_t first_sum) const;

  DnaModel& model_;
  std::span<const Comparison> comparisons_;
  const CompareOptions& options_;
  const std::size_t length_, n_tracks_;
  const std::vector<models::BinGrid> grids_;  // of the heads
  std::vector<Head> heads_;
  bool reuse_;
  std::size_t n_references_;               // of a pass, and kept at a time
  std::vector<std::size_t> first_result_;  // of each comparison
  std::vector<Compared> results_;
};

std::vector<Compared> Comparer::run() {
  if (options_.both_strands) model_.require_strands();
  for (const Comparison& comparison : comparisons_) {
    first_result_.push_back(results_.size());
    for (const std::vector<BinTarget>& targets : comparison.targets) {
      const std::vector<double> zeros(targets.size() * n_tracks_);
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
  divide_by_views(views);
  return std::move(results_);
}

// Divides by the number of views that have bins of the target: a gene at an end of a window's
// predictions may be in some of the shifted views only.
void Comparer::divide_by_views(const std::vector<View>& views) {
  auto result = results_.begin();
  for (const Comparison& comparison : comparisons_)
    for (const std::vector<BinTarget>& targets : comparison.targets) {
      for (std::size_t t = 0; t < targets.size(); ++t)
        for (const Head& head : heads_) {
          const auto n_views = std::count_if(views.begin(), views.end(), [&](const View& view) {
            const BinRange range = find_bins(targets[t], grids_[head.grid], view.shift);
            return range.begin < range.end;
          });
          if (n_views == 0) continue;
          const std::size_t first = t * n_tracks_ + head.first_track;
          for (std::vector<double>* sums : {&result->reference, &result->alternate})
            for (std::size_t i = first; i < first + head.n_tracks; ++i)
              (*sums)[i] /= static_cast<double>(n_views);
        }
      ++result;
    }
}

// References are dropped when all that is compared with them is done: as many as fit are kept.
void Comparer::bound_kept() {
  const std::uint64_t kept = kept_bytes(model_);
  reuse_ = kept > 0;
  if (!reuse_) return;
  const std::uint64_t n_fitting = std::min(options_.max_kept_bytes, model_.room_for_kept()) / kept;
  reuse_ = n_fitting > 0;
  if (!reuse_) return;
  n_references_ = static_cast<std::size_t>(std::min<std::uint64_t>(n_references_, n_fitting));
  model_.reserve_kept(std::min(n_references_, comparisons_.size()));
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

// The targets of a comparison's alternates are often the same.
void Comparer::run_references(const View& view, std::vector<Reference>& references) {
  run_in_halves(0, references.size(), [&](std::size_t first, std::size_t n) {
    std::vector<std::uint8_t> letters;
    Sums sums(grids_.size());
    std::vector<std::size_t> first_sums;  // of each alternate of each comparison
    for (std::size_t w = 0; w < n; ++w) {
      const Reference& reference = references[first + w];
      letters.insert(letters.end(), reference.letters.begin(), reference.letters.end());
      const auto& targets = comparisons_[reference.comparison].targets;
      for (std::size_t i = 0; i < targets.size(); ++i) {
        const bool repeats = i > 0 && targets[i] == targets[i - 1];
        first_sums.push_back(repeats ? first_sums.back() : sums.front().size());
        if (!repeats) append_sums(sums, w, targets[i], view);
      }
    }
    DnaModel::Request request = request_for(sums, view);
    std::vector<KeptWindow> kept;
    if (reuse_) request.kept = &kept;
    const models::Outputs outputs = model_.run(letters, request);
    auto first_sum = first_sums.begin();
    for (std::size_t w = 0; w < n; ++w) {
      Reference& reference = references[first + w];
      if (reuse_) reference.kept = std::move(kept[w]);
      const std::size_t first_result = first_result_[reference.comparison];
      for (std::size_t i = 0; i < comparisons_[reference.comparison].n_alternates(); ++i)
        add(results_[first_result + i].reference, outputs, *first_sum++);
    }
  });
}

void Comparer::run_alternates(const View& view, const std::vector<Reference>& references) {
  struct Window {
    const Reference* reference;
    std::size_t i;
    std::vector<std::uint8_t> letters;
  };
  // run(request) is a pass over n of the windows.
  const auto take = [&](const std::vector<Window>& windows, std::size_t first, std::size_t n,
                        const auto& run) {
    Sums sums(grids_.size());
    std::vector<std::size_t> first_sums;
    for (std::size_t w = 0; w < n; ++w) {
      const Window& window = windows[first + w];
      first_sums.push_back(sums.front().size());
      append_sums(sums, w, comparisons_[window.reference->comparison].targets[window.i], view);
    }
    const models::Outputs outputs = run(request_for(sums, view));
    for (std::size_t w = 0; w < n; ++w) {
      const Window& window = windows[first + w];
      const std::size_t result = first_result_[window.reference->comparison] + window.i;
      add(results_[result].alternate, outputs, first_sums[w]);
    }
  };
  const auto at_once = static_cast<std::size_t>(options_.windows_per_pass);
  std::vector<Window> near, other;
  const auto run_near = [&] {
    run_in_halves(0, near.size(), [&](std::size_t first, std::size_t n) {
      std::vector<models::ChangedWindow> changed;
      for (std::size_t w = first; w < first + n; ++w)
        changed.push_back({&near[w].reference->kept, near[w].letters});
      take(near, first, n,
           [&](const DnaModel::Request& request) { return model_.run_changed(changed, request); });
    });
    near.clear();
  };
  const auto run_other = [&] {
    run_in_halves(0, other.size(), [&](std::size_t first, std::size_t n) {
      std::vector<std::uint8_t> letters;
      for (std::size_t w = first; w < first + n; ++w)
        letters.insert(letters.end(), other[w].letters.begin(), other[w].letters.end());
      take(other, first, n,
           [&](const DnaModel::Request& request) { return model_.run(letters, request); });
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

// On the reverse complement bins are in the opposite order.
void Comparer::append_sums(Sums& sums, std::size_t window, const std::vector<BinTarget>& targets,
                           const View& view) const {
  for (std::size_t g = 0; g < grids_.size(); ++g)
    for (const BinTarget& target : targets) {
      const std::int64_t n_bins = grids_[g].n_bins, shift = grids_[g].reverse_shift;
      const auto [begin, end] = find_bins(target, grids_[g], view.shift);
      const double factor = options_.reduction == Reduction::mean && end > begin
                                ? 1.0 / static_cast<double>(end - begin)
                                : 1.0;
      sums[g].push_back(view.reverse
                            ? models::BinSum{window, std::min(n_bins, n_bins - end + shift),
                                             std::min(n_bins, n_bins - begin + shift), factor}
                            : models::BinSum{window, begin, end, factor});
    }
}

DnaModel::Request Comparer::request_for(const Sums& sums, const View& view) const {
  DnaModel::Request request;
  request.tracks = false;
  if (!sums.front().empty())
    for (const Head& head : heads_) request.sums.emplace_back(sums[head.grid]);
  request.other_strand = view.reverse;
  return request;
}

// Adds the sums of a window's targets: to is [targets, tracks of all heads].
void Comparer::add(std::vector<double>& to, const models::Outputs& outputs,
                   std::size_t first_sum) const {
  if (to.empty()) return;
  const std::size_t n_targets = to.size() / n_tracks_;
  for (const Head& head : heads_) {
    const std::vector<double>& sums = outputs.at(head.output).doubles;
    for (std::size_t r = 0; r < n_targets; ++r) {
      const double* const from = sums.data() + (first_sum + r) * head.n_tracks;
      double* const row = to.data() + r * n_tracks_ + head.first_track;
      for (std::size_t t = 0; t < head.n_tracks; ++t) row[t] += from[t];
    }
  }
}

// Rounded down, where a negative number would be rounded up.
std::int64_t floor_divide(std::int64_t number, std::int64_t by) {
  return number / by - (number % by < 0 ? 1 : 0);
}

}  // namespace

BinRange find_bins(const BinTarget& target, const models::BinGrid& grid, std::int64_t shift) {
  if (target.kind == BinTarget::Kind::all) return {0, grid.n_bins};
  const std::int64_t origin = grid.first_base + shift;  // of the first bin
  const std::int64_t first = floor_divide(target.begin - origin, grid.bin_size);
  const auto clip = [&](std::int64_t at) { return std::clamp<std::int64_t>(at, 0, grid.n_bins); };
  if (target.kind == BinTarget::Kind::around) {
    const std::int64_t begin = first - target.width / 2;
    return {clip(begin), clip(begin + target.width)};
  }
  if (target.begin >= target.end) return {};
  return {clip(first), clip(floor_divide(target.end - 1 - origin, grid.bin_size) + 1)};
}

std::uint64_t kept_bytes(const DnaModel& model) {
  const std::uint64_t rows = model.kept_store().window_bytes();
  // And the letters, of which the model has a copy.
  return rows > 0 ? rows + 2 * static_cast<std::uint64_t>(model.info().window) : 0;
}

std::vector<Compared> compare_windows(DnaModel& model, std::span<const Comparison> comparisons,
                                      const CompareOptions& options) {
  return Comparer(model, comparisons, options).run();
}

std::size_t count_tracks(const DnaModel& model) {
  std::size_t n = 0;
  for (const models::HeadChoice& choice : model.heads()) n += model.n_tracks(choice);
  return n;
}

}  // namespace biogpu::tasks
