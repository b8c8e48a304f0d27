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
  VariantWindows made;
  AlleleLetters letters{&genome, {}, {}};
  std::vector<std::vector<BinRange>> ranges;  // of letters.alleles
  const auto finish_window = [&] {
    if (!ranges.empty()) made.comparisons.push_back({letters, std::move(ranges)});
    ranges.clear();
    letters.alleles.clear();
  };
  for (std::size_t v = 0; v < variants.size(); ++v) {
    const Variant& variant = variants[v];
    const Window window = place_window(variant, options.grid, info.window);
    if (window.contig != letters.window.contig || window.begin != letters.window.begin)
      finish_window();
    letters.window = window;
    for (std::size_t alt = 0; alt < variant.alts.size(); ++alt) {
      if (variant.alts[alt].kind != genome::AlleleKind::letters) continue;
      ScoredAllele allele{v, alt, {}};
      std::vector<BinRange> chosen;
      for (const BinChoice& choice : options.bins) {
        chosen.push_back(choose_bins(choice, info, window, variant.position));
        allele.ranges.push_back(choice.name);
      }
      letters.alleles.push_back({&variant, alt});
      ranges.push_back(std::move(chosen));
      made.alleles.push_back(std::move(allele));
    }
  }
  finish_window();
  return made;
}

}  // namespace biogpu::tasks
