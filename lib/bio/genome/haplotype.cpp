#include "lib/bio/genome/haplotype.hpp"

#include <algorithm>
#include <vector>

namespace biogpu::genome {
namespace {

// A run of the haplotype and where in the window it begins: letters of the reference from `from`
// on, or those of an edit. It may leave the window on both sides.
struct Run {
  std::int64_t to = 0;
  std::int64_t n = 0;
  std::int64_t from = 0;
  const Edit* edit = nullptr;  // none: the reference
};

// The runs right of the letter `from` of the reference, which is letter `to` of the window.
void add_right(std::vector<Run>& runs, std::span<const Edit> edits, std::int64_t from,
               std::int64_t to, std::int64_t size) {
  for (const Edit& edit : edits) {
    if (to >= size || edit.begin - from >= size - to) break;
    runs.push_back({to, edit.begin - from, from, nullptr});
    to += edit.begin - from;
    const std::int64_t n_letters = std::ssize(edit.letters);
    runs.push_back({to, n_letters, 0, &edit});
    to += n_letters;
    from = edit.end;
  }
  if (to < size) runs.push_back({to, size - to, from, nullptr});
}

// The runs left of the letter `from` of the reference, which is letter `to` of the window.
void add_left(std::vector<Run>& runs, std::span<const Edit> edits, std::int64_t from,
              std::int64_t to) {
  for (auto edit = edits.rbegin(); edit != edits.rend(); ++edit) {
    if (to <= 0 || from - edit->end >= to) break;
    to -= from - edit->end;
    runs.push_back({to, from - edit->end, edit->end, nullptr});
    const std::int64_t n_letters = std::ssize(edit->letters);
    to -= n_letters;
    runs.push_back({to, n_letters, 0, &*edit});
    from = edit->begin;
  }
  if (to > 0) runs.push_back({0, to, from - to, nullptr});
}

// What of a run lies in the window.
Run cut_run(Run run, std::int64_t size) {
  const std::int64_t n_before = std::clamp<std::int64_t>(-run.to, 0, run.n);
  run.to += n_before;
  run.from += n_before;
  run.n = std::clamp<std::int64_t>(size - run.to, 0, run.n - n_before);
  return run;
}

}  // namespace

void build_haplotype(const IndexedFasta& genome, const Window& window, std::span<const Edit> edits,
                     std::int64_t anchor, std::span<LetterCode> codes) {
  const auto size = static_cast<std::int64_t>(codes.size());
  auto behind = static_cast<std::size_t>(
      std::lower_bound(edits.begin(), edits.end(), anchor,
                       [](const Edit& edit, std::int64_t at) { return edit.begin < at; }) -
      edits.begin());
  if (behind > 0 && edits[behind - 1].end > anchor) anchor = edits[--behind].begin;
  std::vector<Run> runs;
  add_right(runs, edits.subspan(behind), anchor, anchor - window.begin, size);
  add_left(runs, edits.first(behind), anchor, anchor - window.begin);
  // One fetch for all runs: in compressed files neighbours share their block.
  std::int64_t begin = INT64_MAX, end = INT64_MIN;
  for (Run& run : runs) {
    run = cut_run(run, size);
    if (run.edit != nullptr || run.n == 0) continue;
    begin = std::min(begin, run.from);
    end = std::max(end, run.from + run.n);
  }
  std::vector<LetterCode> reference(begin < end ? static_cast<std::size_t>(end - begin) : 0);
  genome.fetch(window.contig, begin, reference);
  for (const Run& run : runs) {
    if (run.n <= 0) continue;
    const LetterCode* const from = run.edit != nullptr ? run.edit->letters.data() + run.from
                                                       : reference.data() + (run.from - begin);
    std::copy_n(from, run.n, codes.begin() + run.to);
  }
}

Window variant_window(const Variant& variant, std::int64_t length) {
  return resize_centre({variant.id, variant.contig, variant.position, variant.position + 1},
                       length);
}

void build_alternate(const IndexedFasta& genome, const Window& window, const Variant& variant,
                     std::size_t alt, std::span<LetterCode> codes) {
  const Edit edit = make_edit(variant.position, variant.ref_codes, variant.alts[alt].codes);
  build_haplotype(genome, window, {&edit, 1}, variant.position, codes);
}

}  // namespace biogpu::genome
