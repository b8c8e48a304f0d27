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
  VariantWindowMaker(const IndexedFasta& genome, const DnaModel::Info& info,
                     const VariantWindowOptions& options)
      : genome_(genome), info_(info), options_(options), letters_{&genome, {}, {}} {}

  VariantWindows make(std::span<const Variant> variants);

 private:
  void add(const Variant& variant, const Window& window, ScoredAllele allele);
  void add_haplotypes(const Variant& variant, const Window& window, const ScoredAllele& allele);
  void finish_window();
  std::vector<BinRange> choose_ranges(const Window& window, std::int64_t position,
                                      std::vector<std::string>& names) const;

  const IndexedFasta& genome_;
  const DnaModel::Info& info_;
  const VariantWindowOptions& options_;
  AlleleLetters letters_;                      // of the window that is being made
  std::vector<std::vector<BinRange>> ranges_;  // of its alleles
  VariantWindows made_;
};

std::vector<BinRange> VariantWindowMaker::choose_ranges(const Window& window, std::int64_t position,
                                                        std::vector<std::string>& names) const {
  std::vector<BinRange> ranges;
  for (const BinChoice& choice : options_.bins) {
    ranges.push_back(choose_bins(choice, info_, window, position));
    names.push_back(choice.name);
  }
  if (options_.genes == nullptr) return ranges;
  const std::int64_t begin = window.begin + info_.first_base, bin = info_.bin_size;
  const std::int64_t end = begin + info_.n_bins * bin;
  for (const Window& gene : options_.genes->overlapping(window.contig, begin, end)) {
    const std::int64_t first = std::max(gene.begin, begin) - begin;
    const std::int64_t last = std::min(gene.end, end) - begin;
    ranges.push_back({first / bin, (last + bin - 1) / bin});
    names.push_back("gene:" + gene.key);
  }
  return ranges;
}

void VariantWindowMaker::finish_window() {
  if (!ranges_.empty()) made_.comparisons.push_back({letters_, std::move(ranges_)});
  ranges_.clear();
  letters_.alleles.clear();
}

void VariantWindowMaker::add(const Variant& variant, const Window& window, ScoredAllele allele) {
  std::vector<BinRange> ranges = choose_ranges(window, variant.position, allele.ranges);
  letters_.alleles.push_back({&variant, allele.alt});
  ranges_.push_back(std::move(ranges));
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
    for (std::size_t h = 0; h < genotype.alleles.size(); ++h) {
      if (genotype.alleles[h] != static_cast<int>(allele.alt) + 1) continue;
      const HaplotypeLetters letters{&genome_, &set, s, h, window, variant.position, edit};
      const std::vector<genome::Edit> edits = letters.edits_near(window);
      // Not phased, or overlapped by an earlier allele: the set has left it out.
      if (std::find(edits.begin(), edits.end(), edit) == edits.end()) continue;
      ScoredAllele carried = allele;
      carried.haplotype = fmt::format("{}/{}", set.samples()[s], h + 1);
      std::vector<BinRange> ranges = choose_ranges(window, variant.position, carried.ranges);
      made_.comparisons.push_back({letters, {std::move(ranges)}});
      made_.alleles.push_back(std::move(carried));
    }
  }
}

VariantWindows VariantWindowMaker::make(std::span<const Variant> variants) {
  for (std::size_t v = 0; v < variants.size(); ++v) {
    const Variant& variant = variants[v];
    const Window window = place_window(variant, options_.grid, info_.window);
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

BinRange choose_bins(const BinChoice& choice, const DnaModel::Info& info, const Window& window,
                     std::int64_t position) {
  if (choice.width == 0) return {0, info.n_bins};
  const std::int64_t bin = (position - window.begin - info.first_base) / info.bin_size;
  const std::int64_t begin = bin - choice.width / 2;
  const auto clip = [&](std::int64_t at) { return std::clamp<std::int64_t>(at, 0, info.n_bins); };
  return {clip(begin), clip(begin + choice.width)};
}

Window place_window(const Variant& variant, std::int64_t grid, std::int64_t length) {
  const std::int64_t begin = variant.position / grid * grid;
  return genome::resize_centre({variant.id, variant.contig, begin, begin + grid}, length);
}

VariantWindows make_variant_windows(const IndexedFasta& genome, const DnaModel::Info& info,
                                    std::span<const Variant> variants,
                                    const VariantWindowOptions& options) {
  return VariantWindowMaker(genome, info, options).make(variants);
}

}  // namespace biogpu::tasks
