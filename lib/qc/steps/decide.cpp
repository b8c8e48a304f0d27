#include "lib/qc/steps/decide.hpp"

#include <algorithm>

#include "lib/qc/steps/adapter.hpp"

namespace biogpu::qc {
namespace {

int insert_size_of(const Mate& mate1, const Mate& mate2, const Overlap& overlap) {
  if (!overlap.found) return kMaxInsertSize;
  const int fronts = mate1.front_trimmed + mate2.front_trimmed;
  const int size = overlap.offset > 0 ? mate1.length + mate2.length - overlap.length + fronts
                                      : overlap.length + fronts;
  return std::min(size, kMaxInsertSize);
}

void trim_fasta_adapters(Mate& mate, const Options& options, MateNotes& notes) {
  if (options.fasta_adapters.empty()) return;
  // A slip of fastp 0.23 kept these from being counted.
  const bool counts = options.follows_fastp_1();
  trim_adapters(mate, options.fasta_adapters, counts, counts ? &notes.fasta_adapters : nullptr);
}

void trim_pair_adapters(Mate& mate1, Mate& mate2, const Overlap& overlap, const Options& options,
                        PairNotes& notes) {
  notes.cut_by_overlap =
      trim_by_overlap(mate1, mate2, overlap, notes.mate[0].adapter, notes.mate[1].adapter);
  const bool gapped = options.follows_fastp_1();
  if (!notes.cut_by_overlap) {
    if (options.has_adapter1())
      notes.mate[0].adapter = trim_adapter(mate1, options.adapter1, gapped);
    if (options.has_adapter2())
      notes.mate[1].adapter = trim_adapter(mate2, options.adapter2, gapped);
  }
  trim_fasta_adapters(mate1, options, notes.mate[0]);
  trim_fasta_adapters(mate2, options, notes.mate[1]);
  notes.dimer =
      options.follows_fastp_1() &&
      (notes.cut_by_overlap || notes.mate[0].found_adapter() || notes.mate[1].found_adapter()) &&
      mate1.length <= options.dimer_max_len && mate2.length <= options.dimer_max_len;
}

void limit_length(Mate& mate, int max_length) {
  if (max_length > 0) mate.keep_front(max_length);
}

}  // namespace

Overlap overlap_of(const Mate& mate1, const Mate& mate2, const Options& options, int percent,
                   Scratch& scratch) {
  const auto needed = static_cast<std::size_t>(mate2.length) + 128;
  if (scratch.reversed.size() < needed) scratch.reversed.resize(2 * needed);
  reverse_complement(mate2.sequence, mate2.length, scratch.reversed.data());
  const OverlapRules rules{options.overlap_require, options.overlap_diff_limit, percent};
  return find_overlap(mate1.sequence, mate1.length, scratch.reversed.data(), mate2.length, rules);
}

MateNotes trim_single(Mate& mate, const Options& options) {
  MateNotes notes;
  trim_and_cut(mate, options.trim1, options);
  if (mate.dropped) return notes;
  if (options.trim_poly_g) trim_poly_g(mate, options.poly_g_min_len);
  if (options.adapter_trimming) {
    if (options.has_adapter1())
      notes.adapter = trim_adapter(mate, options.adapter1, options.follows_fastp_1());
    trim_fasta_adapters(mate, options, notes);
    notes.dimer =
        options.follows_fastp_1() && notes.found_adapter() && mate.length <= options.dimer_max_len;
  }
  if (options.trim_poly_x) notes.poly_x = trim_poly_x(mate, options.poly_x_min_len);
  limit_length(mate, options.trim1.max_length);
  return notes;
}

PairNotes trim_pair(Mate& mate1, Mate& mate2, const Options& options, bool want_insert_size,
                    Scratch& scratch) {
  PairNotes notes;
  scratch.corrections.clear();
  trim_and_cut(mate1, options.trim1, options);
  trim_and_cut(mate2, options.trim2, options);
  if (mate1.dropped || mate2.dropped) {
    notes.insert_size = -1;
    return notes;
  }
  if (options.trim_poly_g) {
    trim_poly_g(mate1, options.poly_g_min_len);
    trim_poly_g(mate2, options.poly_g_min_len);
  }
  if (options.adapter_trimming || options.correction || want_insert_size) {
    const Overlap overlap =
        overlap_of(mate1, mate2, options, options.overlap_diff_percent, scratch);
    notes.insert_size = insert_size_of(mate1, mate2, overlap);
    if (options.correction)
      notes.n_corrected_mates = correct_by_overlap(mate1, mate2, overlap, scratch.corrections);
    if (options.adapter_trimming) trim_pair_adapters(mate1, mate2, overlap, options, notes);
  }
  if (!options.overlapped_out.empty()) {
    const Overlap exact = overlap_of(mate1, mate2, options, 0, scratch);
    notes.overlapped = exact.found;
    notes.after_overlap = mate1;
    const int skipped = std::max(0, exact.offset) + exact.length;
    notes.after_overlap.sequence += skipped;
    notes.after_overlap.quality += skipped;
    notes.after_overlap.length -= skipped;
  }
  if (options.trim_poly_x) {
    notes.mate[0].poly_x = trim_poly_x(mate1, options.poly_x_min_len);
    notes.mate[1].poly_x = trim_poly_x(mate2, options.poly_x_min_len);
  }
  limit_length(mate1, options.trim1.max_length);
  limit_length(mate2, options.trim2.max_length);
  return notes;
}

}  // namespace biogpu::qc
