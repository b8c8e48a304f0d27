#include "apps/biogpu/align/options/scoring.hpp"

#include <fmt/format.h>

#include <string_view>

#include "apps/biogpu/align/options/modes.hpp"
#include "lib/core/error.hpp"

namespace biogpu::app {
namespace {

struct Defaults {
  std::string_view preset;
  Alphabet alphabet;
  int match, mismatch;
  int gap_open, gap_extend;  // in Parasail's model
};
constexpr Defaults kDefaults[] = {
    {"", Alphabet::dna, 2, -3, 5, 2},
    {"", Alphabet::protein, 0, 0, 11, 1},
    {"dna-short", Alphabet::dna, 2, -3, 7, 2},
    {"dna-long", Alphabet::dna, 2, -4, 6, 2},
    {"protein", Alphabet::protein, 0, 0, 12, 1},
};

const Defaults& defaults_of(const AlignFlags& flags, Alphabet alphabet) {
  for (const Defaults& each : kDefaults)
    if (each.preset == flags.preset && each.alphabet == alphabet) return each;
  return alphabet == Alphabet::dna ? kDefaults[0] : kDefaults[1];
}

struct GapCosts {
  int open = 0;
  int extend = 0;
};

// In Parasail's model. The defaults are stated in that model and are never converted.
GapCosts gap_costs(const AlignFlags& flags, Alphabet alphabet) {
  const Defaults& defaults = defaults_of(flags, alphabet);
  GapCosts costs;
  costs.extend = flags.gap_extend.value_or(defaults.gap_extend);
  costs.open = flags.gap_open.value_or(defaults.gap_open);
  if (flags.gap_open && flags.gap_model == "blast")
    costs.open = align::parasail_gap_open(costs.open, costs.extend);
  // Or residues of a gap would be cheaper as gaps of their own, but not where it begins a matrix.
  if (costs.open < costs.extend)
    throw Error(ErrorCode::usage,
                fmt::format("a gap's first residue costs {} and each further one {}; --gap-open "
                            "must not be below --gap-extend (both are the same for linear costs)",
                            costs.open, costs.extend));
  return costs;
}

int match_of(const AlignFlags& flags) {
  return flags.match.value_or(defaults_of(flags, Alphabet::dna).match);
}
int mismatch_of(const AlignFlags& flags) {
  return flags.mismatch.value_or(defaults_of(flags, Alphabet::dna).mismatch);
}

align::Scoring scoring_of_letters(const AlignFlags& flags, Alphabet alphabet) {
  const GapCosts gap = gap_costs(flags, alphabet);
  if (flags.loaded_matrix) return align::matrix_scoring(*flags.loaded_matrix, gap.open, gap.extend);
  if (alphabet == Alphabet::dna)
    return align::dna_scoring(match_of(flags), mismatch_of(flags), gap.open, gap.extend);
  return align::blosum62_scoring(gap.open, gap.extend);
}

align::Scoring make_scoring(const AlignFlags& flags, Alphabet alphabet) {
  align::Scoring scoring = scoring_of_letters(flags, alphabet);
  if (flags.rna) {
    scoring.class_of['U'] = scoring.class_of['T'];
    scoring.class_of['u'] = scoring.class_of['t'];
  }
  return scoring;
}

}  // namespace

Alphabet stated_alphabet(const AlignFlags& flags) {
  if (flags.loaded_matrix)
    return flags.loaded_matrix->is_nucleotide() ? Alphabet::dna : Alphabet::protein;
  if (flags.alphabet != Alphabet::automatic) return flags.alphabet;
  if (flags.match || flags.mismatch || flags.rna) return Alphabet::dna;
  for (const Defaults& each : kDefaults)
    if (!flags.preset.empty() && each.preset == flags.preset) return each.alphabet;
  return Alphabet::automatic;
}

align::Options make_options(const AlignFlags& flags, Alphabet alphabet) {
  align::Options options;
  if (const auto mode = find_mode(flags.mode)) {
    options.mode = mode->mode;
    options.free_ends = mode->free_ends;
  }
  options.output = flags.output_level;
  options.scoring = make_scoring(flags, alphabet);
  options.band = flags.band.value_or(align::kNoBand);
  options.xdrop = flags.xdrop.value_or(align::kNoXdrop);
  return options;
}

std::optional<align::KarlinAltschul> find_parameters(const AlignFlags& flags, Alphabet alphabet) {
  const GapCosts gap = gap_costs(flags, alphabet);
  const auto mode = find_mode(flags.mode);
  if (!mode || mode->mode != align::Mode::local || flags.xdrop || flags.band) return std::nullopt;
  if (flags.loaded_matrix)
    return align::published_protein_parameters(flags.loaded_matrix->name, gap.open, gap.extend);
  if (alphabet == Alphabet::dna)
    return align::published_nucleotide_parameters(match_of(flags), mismatch_of(flags), gap.open,
                                                  gap.extend);
  return align::published_protein_parameters("blosum62", gap.open, gap.extend);
}

std::string describe_scoring(const AlignFlags& flags, Alphabet alphabet) {
  const GapCosts gap = gap_costs(flags, alphabet);
  const std::string residues =
      flags.loaded_matrix
          ? fmt::format("{}, {}", alphabet == Alphabet::dna ? "dna" : "protein", flags.matrix)
      : alphabet == Alphabet::dna
          ? fmt::format("dna, match {}, mismatch {}", match_of(flags), mismatch_of(flags))
          : std::string("protein, blosum62");
  return fmt::format(
      "{}{}, gap open {}, extend {}", residues,
      stated_alphabet(flags) == Alphabet::automatic ? " (by the first sequences)" : "", gap.open,
      gap.extend);
}

}  // namespace biogpu::app
