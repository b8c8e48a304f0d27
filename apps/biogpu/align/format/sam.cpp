#include "apps/biogpu/align/format/sam.hpp"

#include <algorithm>

namespace biogpu::app {
namespace {

constexpr std::uint32_t kSamMatch = 0;
constexpr std::uint32_t kCigarSoftClip = 4;

void append_run(std::vector<std::uint32_t>& cigar, std::uint64_t length, std::uint32_t op) {
  if (length > 0) cigar.push_back(static_cast<std::uint32_t>(length << 4 | op));
}

void append_path(std::vector<std::uint32_t>& cigar, std::span<const std::uint32_t> path,
                 CigarStyle style) {
  if (style == CigarStyle::distinct) {
    cigar.insert(cigar.end(), path.begin(), path.end());
    return;
  }
  const std::size_t first = cigar.size();
  for (const std::uint32_t run : path) {
    const std::uint32_t op = run_operation(run);
    const bool column = op == align::kCigarEqual || op == align::kCigarMismatch;
    if (column && cigar.size() > first && run_operation(cigar.back()) == kSamMatch)
      cigar.back() += static_cast<std::uint32_t>(run_length(run) << 4);
    else
      append_run(cigar, run_length(run), column ? kSamMatch : op);
  }
}

}  // namespace

bool has_place(const align::Alignment& alignment, std::span<const std::uint32_t> path,
               const align::Options& options) {
  return !nothing_aligned(alignment, options) && has_columns(path);
}

io::SamRecord make_sam_record(const Row& row, const align::Options& options, CigarStyle cigar,
                              SamStore& store) {
  io::SamRecord record;
  record.query_name = row.query_name;
  record.sequence = row.query;
  record.quality = row.quality;
  record.score = row.alignment->score;
  if (row.reverse) {
    record.flag = kSamReverse;
    const std::size_t begin = store.qualities.size();
    store.qualities.append(row.quality.rbegin(), row.quality.rend());
    record.quality = std::string_view(store.qualities).substr(begin);
  }
  const AlignedPart shown = aligned_part(row, options);
  if (!has_place(*row.alignment, shown.path, options)) {
    record.flag |= kSamUnmapped;
    record.mapq = 0;
    return record;
  }
  const std::size_t cigar_begin = store.cigar.size();
  append_run(store.cigar, shown.query_begin, kCigarSoftClip);
  append_path(store.cigar, shown.path, cigar);
  append_run(store.cigar, row.query.size() - shown.query_end, kCigarSoftClip);
  record.cigar = std::span(store.cigar).subspan(cigar_begin);
  record.target_id = static_cast<std::int32_t>(row.target_index);
  record.target_begin = static_cast<std::int64_t>(shown.target_begin);
  const ColumnCounts counts = count_columns(shown.path);
  record.edit_distance = static_cast<std::int32_t>(counts.mismatches + counts.gaps);
  return record;
}

io::SamRecord make_unaligned_record(std::string_view name, std::string_view sequence,
                                    std::string_view quality) {
  io::SamRecord record;
  record.query_name = name;
  record.flag = kSamUnmapped;
  record.mapq = 0;
  record.sequence = sequence;
  record.quality = quality;
  return record;
}

void append_parasail_sam(std::string& out, const Row& row, const align::Options& options) {
  out += row.query_name;
  if (row.alignment->score == 0) {
    out += "\t4\t*\t0\t255\t*\t*\t0\t0\t*\t*\n";
    return;
  }
  const bool local = options.mode == align::Mode::local;
  const auto append_clip = [&](std::int64_t length) {
    if (!local || length <= 0) return;
    append_number(out, length);
    out.push_back('S');
  };
  out += "\t0\t";
  out += row.target_name;
  out.push_back('\t');
  append_number(out, local ? row.alignment->target_begin + 1 : 1);
  out += "\t255\t";
  append_clip(row.alignment->query_begin);
  append_cigar(out, row.path, CigarStyle::distinct);
  append_clip(std::ssize(row.query) - row.alignment->query_end - 1);
  out += "\t*\t0\t0\t";
  out += row.query;
  out.push_back('\t');
  out += row.quality.empty() ? std::string_view("*") : row.quality;
  const ColumnCounts counts = count_columns(row.path);
  out += "\tAS:i:";
  append_number(out, row.alignment->score);
  out += "\tNM:i:";
  append_number(out, static_cast<std::int64_t>(counts.mismatches + counts.gaps));
  out += "\t\n";
}

}  // namespace biogpu::app
