#include "lib/tasks/dna/scorers/interval_scorer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "lib/bio/split.hpp"
#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"
#include "lib/tasks/dna/scorers/scorer.hpp"

namespace biogpu::tasks {
namespace {

const std::array<std::string, 8> kOutputs{
    "ATAC",    "CAGE",    "DNASE",        "CHIP_HISTONE",
    "CHIP_TF", "RNA_SEQ", "SPLICE_SITES", "SPLICE_SITE_USAGE"};

}  // namespace

std::string IntervalScorer::head() const { return head_of_output(output_type); }

std::string IntervalScorer::describe() const {
  return fmt::format("GeneMaskScorer(requested_output={}, width={}, aggregation_type={})",
                     output_type, width == 0 ? "None" : std::to_string(width),
                     reduction == Reduction::mean ? "MEAN" : "SUM");
}

IntervalScorer parse_interval_scorer(const std::string& text) {
  if (text == "RNA_SEQ") return {text, 200001, Reduction::mean};
  const std::string option = "--interval-scorers " + quoted(text);
  const std::vector<std::string_view> parts = split(text, ':');
  if (parts.size() != 3)
    throw Error(ErrorCode::usage, option + ": expected RNA_SEQ or OUTPUT:WIDTH:AGGREGATION");
  const auto output = std::find(kOutputs.begin(), kOutputs.end(), parts[0]);
  if (output == kOutputs.end())
    throw Error(ErrorCode::usage, fmt::format("{}: the output is {}; expected one of {}", option,
                                              quoted(parts[0]), fmt::join(kOutputs, ", ")));
  if (parts[2] != "MEAN" && parts[2] != "SUM")
    throw Error(ErrorCode::usage, fmt::format("{}: the aggregation is {}; expected MEAN or SUM",
                                              option, quoted(parts[2])));
  return {*output, parse_mask_width(parts[1], option),
          parts[2] == "MEAN" ? Reduction::mean : Reduction::sum};
}

std::vector<GeneRows> exon_rows(const genome::GeneAnnotation& genes, const genome::Window& window,
                                std::int64_t width, std::int64_t bin_size) {
  const std::int64_t begin = width == 0 ? window.begin : window.begin + (window.size() - width) / 2;
  const std::int64_t end = width == 0 ? window.end : begin + width;
  std::vector<GeneRows> found;
  for (const genome::GeneExons& gene : genes.starting_in(window.contig, begin, end)) {
    std::vector<BinRange> ranges;
    for (const genome::Span& exon : gene.exons) {
      const std::int64_t first = std::max(exon.begin, begin), last = std::min(exon.end, end);
      if (first >= last) continue;
      ranges.push_back(
          {(first - window.begin) / bin_size, (last - 1 - window.begin) / bin_size + 1});
    }
    RowMask mask = make_mask(std::move(ranges), window.size() / bin_size);
    if (!mask.empty()) found.push_back({gene.gene, std::move(mask)});
  }
  return found;
}

}  // namespace biogpu::tasks
