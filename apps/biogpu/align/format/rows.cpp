#include "apps/biogpu/align/format/rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "apps/biogpu/align/format/emboss_ssw.hpp"
#include "apps/biogpu/align/format/paf_blast6_csv.hpp"
#include "lib/io/alignments/sam_text.hpp"

namespace biogpu::app {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

class RowMaker {
 public:
  RowMaker(const AlignedUnit& aligned, const RowStyle& style, Rows& rows)
      : aligned_(aligned),
        style_(style),
        rows_(rows),
        letters_(style.seq_letters),
        significance_(style.wants_significance()) {}

  void make() {
    rows_.text.clear();
    rows_.records.clear();
    rows_.edges.clear();
    reserve();
    if (is_sam()) return make_sam();
    for (std::size_t i = 0; i < aligned_.pairs.size(); ++i) append(row(i));
    rows_.n_rows = aligned_.pairs.size();
  }

 private:
  bool is_sam() const { return style_.format == RowFormat::sam || style_.format == RowFormat::bam; }

  // Views of records point into the stores, which therefore must not move.
  void reserve() {
    rows_.store.cigar.clear();
    rows_.store.qualities.clear();
    rows_.marked.clear();
    if (!is_sam()) return;
    std::size_t n_symbols = 0;
    for (const align::Pair& pair : aligned_.pairs)
      if (aligned_.queries.is_reverse(pair.query))
        n_symbols += quality(aligned_.queries.query_of(pair.query)).size();
    rows_.store.qualities.reserve(n_symbols);
    if (style_.format == RowFormat::bam) rows_.store.cigar.reserve(n_cigar_at_most());
  }

  // Two clips a record at most; marking by letters may cut every run into single columns.
  std::size_t n_cigar_at_most() const {
    std::size_t n = 2 * aligned_.pairs.size();
    for (const align::Alignment& alignment : aligned_.alignments.rows)
      n += alignment.n_cigar + static_cast<std::size_t>(std::max(0, alignment.length));
    return n;
  }

  std::string_view quality(std::uint32_t query) const {
    return aligned_.unit.queries.quality(query);
  }

  Row row(std::size_t i) {
    const WorkUnit& unit = aligned_.unit;
    const align::Pair pair = aligned_.pairs[i];
    const std::uint32_t query = aligned_.queries.query_of(pair.query);
    const std::size_t target = pair.target;
    Row row;
    row.alignment = &aligned_.alignments.rows[i];
    row.reverse = aligned_.queries.is_reverse(pair.query);
    row.query_name = unit.queries.name(query);
    row.query = row.reverse ? aligned_.queries.reverse_text(query) : unit.queries.sequence(query);
    row.quality = quality(query);
    row.query_index = unit.queries.index(query);
    row.target_name = unit.targets.name(target);
    row.target = unit.targets.sequence(target);
    row.target_index = unit.targets.index(target);
    row.path = path(row, pair);
    row.bits = row.evalue = kUnknown;
    // Of pairs with nothing aligned there is nothing to expect.
    if (significance_ && style_.parameters && row.alignment->score > 0) {
      const align::Database database = style_.database.value_or(
          align::Database{static_cast<std::uint64_t>(row.target.size()), 1});
      row.bits = align::bit_score(*style_.parameters, row.alignment->score);
      row.evalue = align::expected_hits(*style_.parameters, row.alignment->score, row.query.size(),
                                        database);
    }
    return row;
  }

  // The path as computed, by classes, or marked by letters where that may differ.
  std::span<const std::uint32_t> path(const Row& row, align::Pair pair) {
    const align::Alignment& alignment = *row.alignment;
    const auto computed =
        std::span(aligned_.alignments.cigar).subspan(alignment.cigar_begin, alignment.n_cigar);
    if (computed.empty() || (style_.letters.plain() && !holds_shared_class(pair.query)))
      return computed;
    const bool local = style_.options.mode == align::Mode::local;
    const auto i = static_cast<std::size_t>(local ? alignment.query_begin : 0);
    const auto j = static_cast<std::size_t>(local ? alignment.target_begin : 0);
    rows_.marked.clear();
    mark_by_letters(computed, row.query.substr(i), row.target.substr(j), style_.letters,
                    rows_.marked);
    return rows_.marked;
  }

  // Whether the sequence has a residue of the class that stands for all unknown letters.
  bool holds_shared_class(std::uint32_t sequence) const {
    const auto residues = aligned_.queries.view().sequence(sequence);
    return std::find(residues.begin(), residues.end(), style_.options.scoring.class_of[0]) !=
           residues.end();
  }

  void make_sam() {
    const WorkUnit& unit = aligned_.unit;
    rows_.held_before.clear();
    rows_.held_after.clear();
    rows_.n_rows = 0;
    const bool one_read = unit.queries.size() == 1;
    rows_.ends_read_before = unit.continues_before && !(unit.continues_after && one_read);
    std::size_t begin = 0;
    for (std::uint32_t query = 0; query < unit.queries.size(); ++query) {
      std::size_t end = begin;
      while (end < aligned_.pairs.size() && query_of(end) == query) ++end;
      if (unit.continues_before && query == 0)
        hold(query, begin, end, rows_.held_before);
      else if (unit.continues_after && query + 1 == unit.queries.size())
        hold(query, begin, end, rows_.held_after);
      else if (begin == end)
        append_record(unaligned_record(query));
      else
        append_read(begin, end);
      begin = end;
    }
  }

  // The record of a query without rows: SAM holds every read.
  io::SamRecord unaligned_record(std::uint32_t query) const {
    const RecordSpan& queries = aligned_.unit.queries;
    return make_unaligned_record(queries.name(query), queries.sequence(query),
                                 queries.quality(query));
  }

  std::uint32_t query_of(std::size_t i) const {
    return aligned_.queries.query_of(aligned_.pairs[i].query);
  }

  bool has_place(std::size_t i) const {
    const align::Alignment& alignment = aligned_.alignments.rows[i];
    const auto path =
        std::span(aligned_.alignments.cigar).subspan(alignment.cigar_begin, alignment.n_cigar);
    return app::has_place(alignment, path, style_.options);
  }

  void hold(std::uint32_t query, std::size_t begin, std::size_t end, std::vector<HeldRow>& held) {
    io::output::check_query_name(style_.out_path, aligned_.unit.queries.name(query));
    if (begin == end) held.emplace_back(unaligned_record(query));
    for (std::size_t i = begin; i < end; ++i) {
      SamStore store;
      held.emplace_back(make_sam_record(row(i), style_.options, style_.cigar, store));
    }
  }

  // All rows of one read.
  void append_read(std::size_t begin, std::size_t end) {
    const auto& alignments = aligned_.alignments.rows;
    std::size_t primary = end;
    for (std::size_t i = begin; i < end; ++i)
      if (has_place(i) && (primary == end || alignments[i].score > alignments[primary].score))
        primary = i;
    if (primary == end) return append_record(aligned_record(begin, 0));
    for (std::size_t i = begin; i < end; ++i)
      if (has_place(i)) append_record(aligned_record(i, i == primary ? 0 : kSamSecondary));
  }

  io::SamRecord aligned_record(std::size_t i, std::uint16_t more_flags) {
    if (style_.format == RowFormat::sam) rows_.store.cigar.clear();
    io::SamRecord record = make_sam_record(row(i), style_.options, style_.cigar, rows_.store);
    record.flag |= more_flags;
    return record;
  }

  void append_record(const io::SamRecord& record) {
    ++rows_.n_rows;
    if (style_.format == RowFormat::bam) {
      rows_.records.push_back(record);
      return;
    }
    io::output::check_query_name(style_.out_path, record.query_name);
    io::output::append_sam_line(rows_.text, record, style_.targets, letters_);
  }

  void append(const Row& row) {
    std::string& out = rows_.text;
    const align::Options& options = style_.options;
    switch (style_.format) {
      case RowFormat::tsv:
        return append_tsv(out, row, style_.columns, options, style_.cigar);
      case RowFormat::sam:
      case RowFormat::bam:
        return;  // make_sam()
      case RowFormat::paf:
        return append_paf(out, row, options, style_.cigar);
      case RowFormat::blast6:
        return append_blast6(out, row, options);
      case RowFormat::csv:
        return append_csv(out, row, style_.output, style_.tells_strand);
      case RowFormat::emboss:
        return append_emboss(out, row, options, style_.letters);
      case RowFormat::ssw:
        return append_ssw(out, row, options, style_.letters, style_.from_zero);
      case RowFormat::parasail_sam:
        return append_parasail_sam(out, row, options);
      case RowFormat::parasail_edges:
        if (const auto edge = find_edge(row, options.scoring, style_.edges)) {
          append_edge(out, *edge);
          rows_.edges.push_back(*edge);
        }
        return;
    }
  }

  const AlignedUnit& aligned_;
  const RowStyle& style_;
  Rows& rows_;
  const io::output::SeqLetters letters_;
  const bool significance_;
};

}  // namespace

bool RowStyle::wants_significance() const {
  return format == RowFormat::blast6 ||
         (format == RowFormat::tsv && app::wants_significance(columns));
}

void make_rows(const AlignedUnit& aligned, const RowStyle& style, Rows& rows) {
  RowMaker(aligned, style, rows).make();
}

}  // namespace biogpu::app
