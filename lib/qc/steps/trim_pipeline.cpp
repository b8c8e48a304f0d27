#include "lib/qc/steps/trim_pipeline.hpp"

#include <algorithm>

#include "lib/qc/steps/adapter.hpp"
#include "lib/qc/steps/correct.hpp"
#include "lib/qc/steps/trim.hpp"

namespace biogpu::qc {
namespace {

// Mate 2, reverse-complemented, with room for vector loads behind it.
std::string_view reversed_of(const Mate& mate2, TrimScratch& scratch) {
  const auto length = static_cast<std::size_t>(mate2.length);
  const std::size_t needed = length + 128;
  if (scratch.reversed.size() < needed) scratch.reversed.resize(2 * needed);
  reverse_complement(mate2.sequence, mate2.length, scratch.reversed.data());
  return {scratch.reversed.data(), length};
}

OverlapRules rules_of(const Options& options, int percent) {
  return {options.overlap_require, options.overlap_diff_limit, percent};
}

int insert_size_of(const Mate& mate1, const Mate& mate2, const Overlap& overlap) {
  if (!overlap.found) return kMaxInsertSize;
  const int fronts = mate1.front_trimmed + mate2.front_trimmed;
  const int size = overlap.offset > 0 ? mate1.length + mate2.length - overlap.length + fronts
                                      : overlap.length + fronts;
  return std::min(size, kMaxInsertSize);
}

// cut: what trim_adapter returned for this adapter.
void note_adapter(TrimmedRead& read, std::string_view cut, std::string_view adapter) {
  if (cut.empty()) return;
  read.result.adapter_length = static_cast<std::int32_t>(cut.size());
  if (cut.data() == adapter.data())
    read.result.flags |= kAdapterAhead;
  else
    read.result.adapter_begin = static_cast<std::int32_t>(cut.data() - read.original.sequence);
}

void trim_given_adapter(TrimmedRead& read, const std::string& adapter, const Options& options) {
  note_adapter(read, trim_adapter(read.mate, adapter, options.follows_fastp_1()), adapter);
}

void trim_fasta_adapters(TrimmedRead& read, const Options& options,
                         std::vector<std::string_view>& cuts) {
  if (options.fasta_adapters.empty()) return;
  // A slip of fastp 0.23 kept these from being counted.
  const bool counts = options.follows_fastp_1();
  trim_adapters(read.mate, options.fasta_adapters, counts, counts ? &cuts : nullptr);
  if (!cuts.empty()) read.result.flags |= kFastaAdapter;
}

bool found_adapter(const TrimmedRead& read) {
  return read.result.adapter_length > 0 || read.has(kCutByOverlap | kFastaAdapter);
}

// fastp 1: nothing but an adapter.
bool is_dimer(const TrimmedRead& read, const Options& options) {
  return options.follows_fastp_1() && read.mate.length <= options.dimer_max_len;
}

Overlap overlap_with_gap(const Mate& mate1, const Mate& mate2, const Options& options,
                         TrimScratch& scratch) {
  const std::string_view reversed = reversed_of(mate2, scratch);
  const OverlapRules rules = rules_of(options, options.overlap_diff_percent);
  return find_overlap_with_gap({mate1.sequence, static_cast<std::size_t>(mate1.length)}, reversed,
                               rules);
}

void trim_pair_adapters(TrimmedRead& read1, TrimmedRead& read2, const Overlap& overlap,
                        const Options& options, TrimScratch& scratch) {
  std::string_view cut1;
  std::string_view cut2;
  const bool looks_again = options.gapped_overlap && !overlap.found;
  const Overlap shown =
      looks_again ? overlap_with_gap(read1.mate, read2.mate, options, scratch) : overlap;
  if (trim_by_overlap(read1.mate, read2.mate, shown, cut1, cut2)) {
    read1.result.flags |= kCutByOverlap;
    read2.result.flags |= kCutByOverlap;
    note_adapter(read1, cut1, {});
    note_adapter(read2, cut2, {});
  } else {
    if (options.has_adapter1()) trim_given_adapter(read1, options.adapter1, options);
    if (options.has_adapter2()) trim_given_adapter(read2, options.adapter2, options);
  }
  trim_fasta_adapters(read1, options, scratch.fasta_cuts[0]);
  trim_fasta_adapters(read2, options, scratch.fasta_cuts[1]);
  if ((found_adapter(read1) || found_adapter(read2)) && is_dimer(read1, options) &&
      is_dimer(read2, options))
    read1.result.verdict = read2.result.verdict = Verdict::adapter_dimer;
}

void trim_poly_x_tail(TrimmedRead& read, const Options& options) {
  if (!options.trim_poly_x) return;
  const PolyX poly_x = trim_poly_x(read.mate, options.poly_x_min_len);
  if (!poly_x.found) return;
  read.result.flags |= kHasPolyX;
  read.result.poly_x = static_cast<std::uint8_t>(poly_x.base);
  read.result.poly_x_length = poly_x.length;
}

// For --overlapped_out.
std::optional<Mate> rest_after_overlap(const Mate& mate1, const Mate& mate2, const Options& options,
                                       TrimScratch& scratch) {
  const Overlap exact = overlap_of(mate1, mate2, options, 0, scratch);
  if (!exact.found) return {};
  Mate rest = mate1;
  const int skipped = std::max(0, exact.offset) + exact.length;
  rest.sequence += skipped;
  rest.quality += skipped;
  rest.length -= skipped;
  return rest;
}

void limit_length(Mate& mate, int max_length) {
  if (max_length > 0) mate.keep_front(max_length);
}

}  // namespace

Overlap overlap_of(const Mate& mate1, const Mate& mate2, const Options& options, int percent,
                   TrimScratch& scratch) {
  const std::string_view reversed = reversed_of(mate2, scratch);
  return find_overlap(mate1.sequence, mate1.length, reversed.data(), mate2.length,
                      rules_of(options, percent));
}

void trim_single(TrimmedRead& read, const Options& options, TrimScratch& scratch) {
  scratch.fasta_cuts[0].clear();
  trim_and_cut(read.mate, options.trim1, options);
  if (!read.mate.dropped) {
    if (options.trim_poly_g) trim_poly_g(read.mate, options.poly_g_min_len);
    if (options.adapter_trimming) {
      if (options.has_adapter1()) trim_given_adapter(read, options.adapter1, options);
      trim_fasta_adapters(read, options, scratch.fasta_cuts[0]);
      if (found_adapter(read) && is_dimer(read, options))
        read.result.verdict = Verdict::adapter_dimer;
    }
    trim_poly_x_tail(read, options);
    limit_length(read.mate, options.trim1.max_length);
  }
  read.note_rest();
}

Overlap trim_pair_to_overlap(TrimmedRead& read1, TrimmedRead& read2, const Options& options,
                             bool want_insert_size, TrimScratch& scratch) {
  Mate& mate1 = read1.mate;
  Mate& mate2 = read2.mate;
  scratch.corrections.clear();
  trim_and_cut(mate1, options.trim1, options);
  trim_and_cut(mate2, options.trim2, options);
  if (mate1.dropped || mate2.dropped) {
    read1.result.insert_size = -1;
    return {};
  }
  if (options.trim_poly_g) {
    trim_poly_g(mate1, options.poly_g_min_len);
    trim_poly_g(mate2, options.poly_g_min_len);
  }
  if (!options.adapter_trimming && !options.correction && !want_insert_size) return {};
  const Overlap overlap = overlap_of(mate1, mate2, options, options.overlap_diff_percent, scratch);
  read1.result.insert_size = static_cast<std::int16_t>(insert_size_of(mate1, mate2, overlap));
  if (options.correction) find_corrections(read1, read2, overlap, scratch.corrections);
  return overlap;
}

void trim_pair_after_overlap(TrimmedRead& read1, TrimmedRead& read2, const Overlap& overlap,
                             const Options& options, TrimScratch& scratch) {
  for (auto& cuts : scratch.fasta_cuts) cuts.clear();
  scratch.after_overlap.reset();
  if (!read1.mate.dropped && !read2.mate.dropped) {
    for (const BaseChange& change : scratch.corrections) {
      TrimmedRead& read = change.read == 0 ? read1 : read2;
      change_base(read.original, change);
      read.result.flags |= kCorrected;
    }
    if (options.adapter_trimming) trim_pair_adapters(read1, read2, overlap, options, scratch);
    if (!options.overlapped_out.empty())
      scratch.after_overlap = rest_after_overlap(read1.mate, read2.mate, options, scratch);
    trim_poly_x_tail(read1, options);
    trim_poly_x_tail(read2, options);
    limit_length(read1.mate, options.trim1.max_length);
    limit_length(read2.mate, options.trim2.max_length);
  }
  read1.note_rest();
  read2.note_rest();
}

}  // namespace biogpu::qc
