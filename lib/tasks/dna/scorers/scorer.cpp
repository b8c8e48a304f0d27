#include "lib/tasks/dna/scorers/scorer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "lib/bio/split.hpp"
#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"

namespace biogpu::tasks {
namespace {

constexpr std::array<std::int64_t, 5> kWidths{501, 2001, 10001, 100001, 200001};
// Outputs that a centre mask takes.
const std::array<std::string, 9> kMaskedOutputs{"ATAC",    "CAGE",         "DNASE",
                                                "PROCAP",  "RNA_SEQ",      "CHIP_HISTONE",
                                                "CHIP_TF", "SPLICE_SITES", "SPLICE_SITE_USAGE"};

Scorer centre_scorer(std::string output, std::int64_t width, Aggregation aggregation) {
  const bool is_active = aggregation == Aggregation::active_sum;
  return {output + (is_active ? "_ACTIVE" : ""), Scorer::Kind::centre_mask, output, width,
          aggregation};
}

std::vector<Scorer> make_recommended() {
  using Kind = Scorer::Kind;
  const auto sums = [](const char* output, std::int64_t width) {
    return centre_scorer(output, width, Aggregation::diff_log2_sum);
  };
  const auto active = [](const char* output, std::int64_t width) {
    return centre_scorer(output, width, Aggregation::active_sum);
  };
  return {sums("ATAC", 501),
          {"CONTACT_MAPS", Kind::contact_map, "CONTACT_MAPS"},
          sums("DNASE", 501),
          sums("CHIP_TF", 501),
          sums("CHIP_HISTONE", 2001),
          sums("CAGE", 501),
          sums("PROCAP", 501),
          {"RNA_SEQ", Kind::gene_lfc, "RNA_SEQ"},
          {"RNA_SEQ_ACTIVE", Kind::gene_active, "RNA_SEQ"},
          {"SPLICE_SITES", Kind::gene_splicing, "SPLICE_SITES"},
          {"SPLICE_SITE_USAGE", Kind::gene_splicing, "SPLICE_SITE_USAGE"},
          {"SPLICE_JUNCTIONS", Kind::splice_junction, "SPLICE_JUNCTIONS"},
          {"POLYADENYLATION", Kind::polyadenylation, "RNA_SEQ"},
          active("ATAC", 501),
          active("DNASE", 501),
          active("CHIP_TF", 501),
          active("CHIP_HISTONE", 2001),
          active("CAGE", 501),
          active("PROCAP", 501)};
}

}  // namespace

std::string head_of_output(const std::string& output_type) {
  std::string head = output_type;
  std::transform(head.begin(), head.end(), head.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (output_type.starts_with("SPLICE_") || output_type == "CONTACT_MAPS") return head;
  return head + (output_type.starts_with("CHIP_") ? "/128" : "/1");
}

std::int64_t parse_mask_width(std::string_view text, const std::string& option) {
  if (text == "all") return 0;
  for (const std::int64_t width : kWidths)
    if (text == std::to_string(width)) return width;
  throw Error(ErrorCode::usage, fmt::format("{}: the width is {}; expected all, {}", option,
                                            quoted(text), fmt::join(kWidths, ", ")));
}

std::string Scorer::describe() const {
  const auto of_output = [&](const char* scorer) {
    return fmt::format("{}(requested_output={})", scorer, output_type);
  };
  switch (kind) {
    case Kind::contact_map:
      return "ContactMapScorer()";
    case Kind::gene_lfc:
      return of_output("GeneMaskLFCScorer");
    case Kind::gene_active:
      return of_output("GeneMaskActiveScorer");
    case Kind::gene_splicing:
      return fmt::format("GeneMaskSplicingScorer(requested_output={}, width=None)", output_type);
    case Kind::polyadenylation:
      return "PolyadenylationScorer()";
    case Kind::splice_junction:
      return "SpliceJunctionScorer()";
    default:
      return fmt::format("CenterMaskScorer(requested_output={}, width={}, aggregation_type={})",
                         output_type, width == 0 ? "None" : std::to_string(width),
                         aggregation_name(aggregation));
  }
}

const std::vector<Scorer>& recommended_scorers() {
  static const std::vector<Scorer> scorers = make_recommended();
  return scorers;
}

Scorer parse_scorer(const std::string& text) {
  const std::string option = "--scorers " + quoted(text);
  const std::vector<std::string_view> parts = split(text, ':');
  if (parts.size() == 3) {
    const auto output = std::find(kMaskedOutputs.begin(), kMaskedOutputs.end(), parts[0]);
    if (output == kMaskedOutputs.end())
      throw Error(ErrorCode::usage, fmt::format("{}: the output is {}; expected one of {}", option,
                                                quoted(parts[0]), fmt::join(kMaskedOutputs, ", ")));
    return {text, Scorer::Kind::centre_mask, *output, parse_mask_width(parts[1], option),
            parse_aggregation(std::string(parts[2]), option)};
  }
  const std::vector<Scorer>& known = recommended_scorers();
  std::vector<std::string> names;
  for (const Scorer& scorer : known) {
    if (scorer.name == text) return scorer;
    names.push_back(scorer.name);
  }
  throw Error(ErrorCode::usage, fmt::format("{}: expected recommended, OUTPUT:WIDTH:AGGREGATION or "
                                            "one of {}",
                                            option, fmt::join(names, ", ")));
}

}  // namespace biogpu::tasks
