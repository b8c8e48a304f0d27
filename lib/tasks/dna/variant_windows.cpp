#include "lib/tasks/dna/variant_windows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "lib/bio/genome/haplotype.hpp"
#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"

namespace biogpu::tasks {
namespace {

using genome::IndexedFasta;
using genome::LetterCode;
using genome::Variant;
using genome::Window;
using models::DnaModel;

// The letters of one window: of the genome, and with each allele.
struct AlleleLetters {
  struct Allele {
    const Variant* variant;
    std::size_t alt;
  };
  const IndexedFasta* genome;
  Window window;
  std::vector<Allele> alleles;

  void operator()(std::size_t i, std::int64_t shift, std::span<LetterCode> letters) const {
    const Window moved = genome::shifted(window, shift);
    if (i == 0) return genome->fetch(moved.contig, moved.begin, letters);
    const Allele& allele = alleles[i - 1];
    genome::build_alternate(*genome, moved, *allele.variant, allele.alt, letters);
  }
};

// The letters of one haplotype with an allele, and without it.
struct HaplotypeLetters {
  const IndexedFasta* genome;
  const genome::HaplotypeSet* haplotypes;
  std::size_t sample, haplotype;
  Window window;
  std::int64_t anchor;
  genome::Edit edit;  // that of the allele

  void operator()(std::size_t i, std::int64_t shift, std::span<LetterCode> letters) const {
    const Window moved = genome::shifted(window, shift);
    std::vector<genome::Edit> edits = edits_near(moved);
    if (i == 0) std::erase(edits, edit);
    genome::build_haplotype(*genome, moved, edits, anchor, letters);
  }
  // All that could reach into the window: the set's own bounds are for windows held at their
  // centres.
  std::vector<genome::Edit> edits_near(Window around) const {
    const std::int64_t size = around.size();
    around.begin -= size;
    around.end += size;
    return haplotypes->edits_in(around, sample, haplotype);
  }
};

class VariantWindowMaker {
 public:
  VariantWindowMaker(const IndexedFasta& genome, const DnaModel& model,
                     const VariantWindowOptions& options)
      : genome_(genome),
        window_(model.info().window),
        grids_(model.grids()),
        options_(options),
        letters_{&genome, {}, {}} {}

  VariantWindows make(std::span<const Variant> variants);

 private:
  void add(const Variant& variant, const Window& window, ScoredAllele allele);
  void add_haplotypes(const Variant& variant, const Window& window, const ScoredAllele& allele);
  void finish_window();
  std::vector<BinTarget> choose_targets(const Window& window, std::int64_t position,
                                        std::vector<std::string>& names) const;
  void add_genes(const Window& window, std::vector<BinTarget>& targets,
                 std::vector<std::string>& names) const;

  const IndexedFasta& genome_;
  const std::int64_t window_;
  const std::vector<models::BinGrid> grids_;
  const VariantWindowOptions& options_;
  AlleleLetters letters_;                        // of the window that is being made
  std::vector<std::vector<BinTarget>> targets_;  // of its alleles
  VariantWindows made_;
};

std::vector<BinTarget> VariantWindowMaker::choose_targets(const Window& window,
                                                          std::int64_t position,
                                                          std::vector<std::string>& names) const {
  std::vector<BinTarget> targets;
  for (const BinChoice& choice : options_.bins) {
    targets.push_back(make_target(choice, window, position));
    names.push_back(choice.name);
  }
  if (options_.genes != nullptr) add_genes(window, targets, names);
  return targets;
}

void VariantWindowMaker::add_genes(const Window& window, std::vector<BinTarget>& targets,
                                   std::vector<std::string>& names) const {
  const models::BinGrid& first = grids_.front();
  const std::int64_t begin = window.begin + first.first_base, end = begin + first.n_bases();
  const auto [least, most] = std::minmax_element(options_.shifts.begin(), options_.shifts.end());
  for (const Window& gene :
       options_.genes->overlapping(window.contig, begin + *least, end + *most)) {
    const BinTarget target{BinTarget::Kind::covering, gene.begin - window.begin,
                           gene.end - window.begin, 0};
    const auto is_predicted = [&](const models::BinGrid& grid) {
      return std::any_of(options_.shifts.begin(), options_.shifts.end(), [&](std::int64_t shift) {
        const BinRange range = find_bins(target, grid, shift);
        return range.begin < range.end;
      });
    };
    if (!std::all_of(grids_.begin(), grids_.end(), is_predicted)) continue;
    targets.push_back(target);
    names.push_back("gene:" + gene.key);
  }
}

void VariantWindowMaker::finish_window() {
  if (!targets_.empty()) made_.comparisons.push_back({letters_, std::move(targets_)});
  targets_.clear();
  letters_.alleles.clear();
}

void VariantWindowMaker::add(const Variant& variant, const Window& window, ScoredAllele allele) {
  std::vector<BinTarget> targets = choose_targets(window, variant.position, allele.targets);
  letters_.alleles.push_back({&variant, allele.alt});
  targets_.push_back(std::move(targets));
  made_.alleles.push_back(std::move(allele));
}

// Each haplotype has its reference.
void VariantWindowMaker::add_haplotypes(const Variant& variant, const Window& window,
                                        const ScoredAllele& allele) {
  const genome::HaplotypeSet& set = *options_.haplotypes;
  const genome::Edit edit =
      genome::make_edit(variant.position, variant.ref_codes, variant.alts[allele.alt].codes);
  for (std::size_t s = 0; s < variant.genotypes.size(); ++s) {
    const genome::Genotype& genotype = variant.genotypes[s];
    if (!genotype.tells_haplotypes()) continue;
    for (std::size_t h = 0; h < genotype.alleles.size(); ++h) {
      if (genotype.alleles[h] != static_cast<int>(allele.alt) + 1) continue;
      const HaplotypeLetters letters{&genome_, &set, s, h, window, variant.position, edit};
      const std::vector<genome::Edit> edits = letters.edits_near(window);
      // Overlapped by an earlier allele: the set has left it out.
      if (std::find(edits.begin(), edits.end(), edit) == edits.end()) continue;
      ScoredAllele carried = allele;
      carried.haplotype = fmt::format("{}/{}", set.samples()[s], h + 1);
      std::vector<BinTarget> targets = choose_targets(window, variant.position, carried.targets);
      made_.comparisons.push_back({letters, {std::move(targets)}});
      made_.alleles.push_back(std::move(carried));
    }
  }
}

VariantWindows VariantWindowMaker::make(std::span<const Variant> variants) {
  for (std::size_t v = 0; v < variants.size(); ++v) {
    const Variant& variant = variants[v];
    const Window window = place_window(variant, options_.grid, window_);
    if (window.contig != letters_.window.contig || window.begin != letters_.window.begin)
      finish_window();
    letters_.window = window;
    for (std::size_t alt = 0; alt < variant.alts.size(); ++alt) {
      if (variant.alts[alt].kind != genome::AlleleKind::letters) continue;
      if (options_.haplotypes != nullptr)
        add_haplotypes(variant, window, {v, alt, {}, {}});
      else
        add(variant, window, {v, alt, {}, {}});
    }
  }
  finish_window();
  return std::move(made_);
}

}  // namespace

BinChoice parse_bin_choice(const std::string& text) {
  if (text == "all") return {text, 0};
  if (text == "centre") return {"centre:1", 1};
  const std::string_view prefix = "centre:";
  std::int64_t width = 0;
  const char* const end = text.data() + text.size();
  if (text.starts_with(prefix)) {
    const auto [at, error] = std::from_chars(text.data() + prefix.size(), end, width);
    if (error == std::errc{} && at == end && width > 0) return {text, width};
  }
  throw Error(ErrorCode::usage,
              fmt::format("--bins {}: expected all, centre or centre:N", quoted(text)));
}

BinTarget make_target(const BinChoice& choice, const Window& window, std::int64_t position) {
  if (choice.width == 0) return {};
  const std::int64_t base = position - window.begin;
  return {BinTarget::Kind::around, base, base + 1, choice.width};
}

void require_centre(std::span<const BinChoice> choices, const DnaModel& model,
                    std::span<const std::int64_t> shifts, std::int64_t grid) {
  const auto centre = std::find_if(choices.begin(), choices.end(),
                                   [](const BinChoice& choice) { return choice.width > 0; });
  if (centre == choices.end()) return;
  const std::int64_t first = model.info().window / 2 - grid / 2;  // of a piece in its window
  for (const models::BinGrid& bins : model.grids())
    for (const std::int64_t shift : shifts)
      for (const std::int64_t base : {first, first + grid - 1}) {
        const BinRange bin = find_bins({BinTarget::Kind::around, base, base + 1, 1}, bins, shift);
        if (bin.begin == bin.end)
          throw Error(ErrorCode::usage,
                      fmt::format("--shifts {} with --bins {}: the centre is not among the {} "
                                  "bases that the model predicts of a window",
                                  shift, centre->name, bins.n_bases()));
      }
}

Window place_window(const Variant& variant, std::int64_t grid, std::int64_t length) {
  const std::int64_t begin = variant.position / grid * grid;
  return genome::resize_centre({variant.id, variant.contig, begin, begin + grid}, length);
}

VariantWindows make_variant_windows(const IndexedFasta& genome, const DnaModel& model,
                                    std::span<const Variant> variants,
                                    const VariantWindowOptions& options) {
  return VariantWindowMaker(genome, model, options).make(variants);
}

}  // namespace biogpu::tasks
