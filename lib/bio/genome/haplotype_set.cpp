#include "lib/bio/genome/haplotype_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"

namespace biogpu::genome {
namespace {

bool overlaps(const Edit& before, const Edit& after) {
  return after.begin < before.end || (after.begin == before.begin && after.end == before.end);
}

// How many letters an edit takes away.
std::int64_t n_lost(const Edit& edit) {
  return std::max<std::int64_t>(0, edit.end - edit.begin - std::ssize(edit.letters));
}

}  // namespace

HaplotypeSet::HaplotypeSet(VariantReader& reader, UnphasedGenotypes unphased,
                           io::RecordRange counted)
    : genome_(reader.genome()),
      samples_(reader.chosen_samples()),
      n_haplotypes_(samples_.size(), 0),
      contigs_(genome_.contigs().size()),
      counted_(counted) {
  for (Variant variant; reader.next(variant);) add(variant, unphased, reader.label());
  sort();
}

void HaplotypeSet::add(const Variant& variant, UnphasedGenotypes policy, const std::string& label) {
  ContigEdits& contig = contigs_[variant.contig];
  std::vector<std::optional<EditIndex>> edit_of(variant.alts.size());
  const auto refuse = [&](std::size_t sample, const char* what) {
    if (policy == UnphasedGenotypes::refuse)
      throw Error(ErrorCode::bad_input,
                  fmt::format("{}: record {} ({}:{}): the genotype of {} {}", label, variant.record,
                              genome_.contigs()[variant.contig].name, variant.position + 1,
                              quoted(samples_[sample]), what));
  };
  for (std::size_t s = 0; s < variant.genotypes.size(); ++s) {
    const Genotype& genotype = variant.genotypes[s];
    const std::vector<int>& alleles = genotype.alleles;
    n_haplotypes_[s] = std::max(n_haplotypes_[s], alleles.size());
    if (!genotype.tells_haplotypes()) {
      const bool missing = genotype.has_missing();
      refuse(s, missing ? "is missing" : "has no phase; expected alleles separated by '|'");
      if (variant.record > counted_.begin && variant.record <= counted_.end)  // from 1
        ++(missing ? counts_.missing : counts_.unphased);
      continue;
    }
    for (std::size_t h = 0; h < alleles.size(); ++h) {
      if (alleles[h] == 0) continue;
      const auto alt = static_cast<std::size_t>(alleles[h] - 1);
      if (variant.alts[alt].kind != AlleleKind::letters) continue;
      if (!edit_of[alt]) {
        if (contig.edits.size() >= std::numeric_limits<EditIndex>::max())
          throw Error(ErrorCode::bad_input,
                      fmt::format("{}: record {} ({}:{}): more than {} alleles of one sequence",
                                  label, variant.record, genome_.contigs()[variant.contig].name,
                                  variant.position + 1, contig.edits.size()));
        edit_of[alt] = static_cast<EditIndex>(contig.edits.size());
        contig.edits.push_back(
            make_edit(variant.position, variant.ref_codes, variant.alts[alt].codes));
      }
      carry(contig, s, h, *edit_of[alt]);
    }
  }
}

void HaplotypeSet::carry(ContigEdits& contig, std::size_t sample, std::size_t haplotype,
                         EditIndex edit) {
  if (contig.carried.empty()) contig.carried.resize(samples_.size());
  std::vector<std::vector<EditIndex>>& haplotypes = contig.carried[sample];
  if (haplotypes.size() <= haplotype) haplotypes.resize(haplotype + 1);
  haplotypes[haplotype].push_back(edit);
}

// Files are sorted by the first letter of REF, edits by what changes. Decided in the order of the
// records: an edit is applied where it overlaps none that was applied before.
void HaplotypeSet::sort() {
  for (ContigEdits& contig : contigs_) {
    const std::vector<Edit>& edits = contig.edits;
    const auto before = [&](EditIndex a, EditIndex b) {
      return std::pair(edits[a].begin, edits[a].end) < std::pair(edits[b].begin, edits[b].end);
    };
    for (auto& haplotypes : contig.carried)
      for (std::vector<EditIndex>& carried : haplotypes) {
        std::set<EditIndex, decltype(before)> applied(before);
        for (const EditIndex edit : carried) {
          const auto next = applied.lower_bound(edit);
          // A record that repeats the allele of an earlier one leaves nothing out.
          if (next != applied.end() && edits[edit] == edits[*next]) continue;
          const bool fits =
              (next == applied.end() || !overlaps(edits[edit], edits[*next])) &&
              (next == applied.begin() || !overlaps(edits[*std::prev(next)], edits[edit]));
          if (fits)
            applied.insert(next, edit);
          else
            ++counts_.overlapping;
        }
        counts_.applied += applied.size();
        carried.assign(applied.begin(), applied.end());
      }
  }
}

std::vector<Edit> HaplotypeSet::edits_in(const Window& window, std::size_t sample,
                                         std::size_t haplotype) const {
  const ContigEdits& contig = contigs_[window.contig];
  if (contig.carried.empty() || contig.carried[sample].size() <= haplotype) return {};
  const std::vector<EditIndex>& carried = contig.carried[sample][haplotype];
  const std::vector<Edit>& edits = contig.edits;
  auto centre =
      std::lower_bound(carried.begin(), carried.end(), window.centre(),
                       [&](EditIndex edit, std::int64_t at) { return edits[edit].begin < at; });
  if (centre != carried.begin() && edits[*(centre - 1)].end > window.centre()) --centre;
  // What deletions take away comes in from further out, where more edits may lie.
  auto first = centre, last = centre;
  for (std::int64_t end = window.end; last != carried.end() && edits[*last].begin < end; ++last)
    end += n_lost(edits[*last]);
  for (std::int64_t begin = window.begin;
       first != carried.begin() && edits[*(first - 1)].end > begin; --first)
    begin -= n_lost(edits[*(first - 1)]);
  std::vector<Edit> found;
  for (auto at = first; at != last; ++at) found.push_back(edits[*at]);
  return found;
}

void HaplotypeSet::build(const Window& window, std::size_t sample, std::size_t haplotype,
                         std::span<LetterCode> codes) const {
  build_haplotype(genome_, window, edits_in(window, sample, haplotype), window.centre(), codes);
}

}  // namespace biogpu::genome
