#include "lib/tasks/dna/scorers/score_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

namespace biogpu::tasks {

ScoreTable::ScoreTable(const std::vector<Scorer>& scorers, ScoreLines::Options options)
    : lines_(std::move(options)) {
  for (const Scorer& scorer : scorers)
    scorers_.push_back(
        lines_.scorer(scorer.output_type, scorer.describe(), scorer.head(), scorer.needs_genes()));
}

std::string ScoreTable::header() const {
  return lines_.header("variant_id\tscored_interval", "variant_scorer");
}

void ScoreTable::append(const std::string& contig, const genome::Variant& variant,
                        const AlleleScores& scores, std::string& text) const {
  const std::string place =
      fmt::format("{0}:{1}:{2}>{3}\t{0}:{4}-{5}:.", contig, variant.position + 1, variant.ref,
                  variant.alts[scores.alt].text, scores.window.begin, scores.window.end);
  for (auto row = scores.rows.begin(); row != scores.rows.end();) {
    const auto end = std::find_if(
        row, scores.rows.end(), [&](const ScoreRow& other) { return other.scorer != row->scorer; });
    lines_.append(place, scorers_[row->scorer], std::span(row, end), text);
    row = end;
  }
}

}  // namespace biogpu::tasks
