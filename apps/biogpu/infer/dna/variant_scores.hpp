#pragma once

#include <span>
#include <string>
#include <vector>

#include "lib/tasks/dna/compare.hpp"
#include "lib/tasks/dna/variant_windows.hpp"

namespace biogpu::app {

// What is told of an allele, a number for each choice of bins and track.
struct VariantScore {
  const char* name;  // "SAD"
  const char* description;
  const char* unit;
  double (*of)(double reference, double alternate);
};

// By their names. Throws Error{usage} for an unknown one.
std::vector<VariantScore> parse_scores(const std::vector<std::string>& names);
// "SAD, SAR, REF, ALT"
std::string known_scores();

// [scores, targets, tracks]
std::vector<float> compute_scores(const std::vector<VariantScore>& scores,
                                  const tasks::Compared& compared);

// Tables of scores: a line a number, or a line of all tracks.
class VariantTable {
 public:
  struct Columns {
    bool wide = false;
    bool haplotype = false;
  };
  VariantTable(std::vector<VariantScore> scores, std::vector<std::string> tracks, Columns columns);

  std::string header() const;
  // values: of compute_scores().
  void append(const std::string& contig, const genome::Variant& variant,
              const tasks::ScoredAllele& allele, std::span<const float> values,
              std::string& text) const;

 private:
  const std::vector<VariantScore> scores_;
  const std::vector<std::string> tracks_;
  const Columns columns_;
};

}  // namespace biogpu::app
