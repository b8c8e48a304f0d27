#include "apps/biogpu/infer/dna/variant_scores.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"

namespace biogpu::app {
namespace {

constexpr const char* kUnitOfTrack = "track units";
constexpr VariantScore kScores[] = {
    {"SAD", "ALT - REF", kUnitOfTrack,
     [](double reference, double alternate) { return alternate - reference; }},
    {"SAR", "log2(1 + ALT) - log2(1 + REF)", "log2",
     [](double reference, double alternate) {
       return std::log2(1 + alternate) - std::log2(1 + reference);
     }},
    {"REF", "what is predicted of REF", kUnitOfTrack,
     [](double reference, double) { return reference; }},
    {"ALT", "what is predicted of ALT", kUnitOfTrack,
     [](double, double alternate) { return alternate; }},
};

}  // namespace

std::string known_scores() {
  std::vector<std::string> names;
  for (const VariantScore& score : kScores) names.emplace_back(score.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

std::vector<VariantScore> parse_scores(const std::vector<std::string>& names) {
  std::vector<VariantScore> scores;
  for (const std::string& name : names) {
    const auto* const score = std::find_if(std::begin(kScores), std::end(kScores),
                                           [&](const VariantScore& s) { return s.name == name; });
    if (score == std::end(kScores))
      throw Error(ErrorCode::usage, fmt::format("--scores {}: expected one of {}",
                                                biogpu::quoted(name), known_scores()));
    scores.push_back(*score);
  }
  return scores;
}

std::vector<float> compute_scores(const std::vector<VariantScore>& scores,
                                  const tasks::Compared& compared) {
  std::vector<float> values;
  for (const VariantScore& score : scores)
    for (std::size_t i = 0; i < compared.reference.size(); ++i)
      values.push_back(static_cast<float>(score.of(compared.reference[i], compared.alternate[i])));
  return values;
}

VariantTable::VariantTable(std::vector<VariantScore> scores, std::vector<std::string> tracks,
                           Columns columns)
    : scores_(std::move(scores)), tracks_(std::move(tracks)), columns_(columns) {}

std::string VariantTable::header() const {
  std::string columns = "chrom\tpos\tid\tref\talt";
  if (columns_.haplotype) columns += "\thaplotype";
  columns += "\tbins\tscore";
  return columns_.wide ? fmt::format("{}\t{}\n", columns, fmt::join(tracks_, "\t"))
                       : columns + "\ttrack\tvalue\n";
}

void VariantTable::append(const std::string& contig, const genome::Variant& variant,
                          const tasks::ScoredAllele& allele, std::span<const float> values,
                          std::string& text) const {
  std::string place = fmt::format("{}\t{}\t{}\t{}\t{}", contig, variant.position + 1, variant.id,
                                  variant.ref, variant.alts[allele.alt].text);
  if (columns_.haplotype) place += "\t" + allele.haplotype;
  auto out = std::back_inserter(text);
  const float* value = values.data();
  for (const VariantScore& score : scores_)
    for (const std::string& target : allele.targets) {
      const std::string begin = fmt::format("{}\t{}\t{}", place, target, score.name);
      if (columns_.wide) text += begin;
      for (const std::string& track : tracks_) {
        if (columns_.wide)
          fmt::format_to(out, "\t{:.6g}", *value++);
        else
          fmt::format_to(out, "{}\t{}\t{:.6g}\n", begin, track, *value++);
      }
      if (columns_.wide) text += '\n';
    }
}

}  // namespace biogpu::app
