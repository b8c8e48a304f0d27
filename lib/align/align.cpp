#include "lib/align/align.hpp"

#include <algorithm>

#include "lib/align/align_gpu.hpp"
#include "lib/align/border.hpp"
#include "lib/core/error.hpp"
#include "lib/core/gpu_backend.hpp"

namespace biogpu::align {

std::uint64_t count_cells(const Work& work) {
  std::uint64_t cells = 0;
  for (const Pair& pair : work.pairs)
    cells += work.queries.length(pair.query) * work.targets.length(pair.target);
  return cells;
}

std::unique_ptr<GpuAligner> make_gpu_aligner(int device, const Options& options,
                                             std::uint64_t max_device_bytes) {
  return gpu_feature<GpuTable>().make_aligner(device, options, max_device_bytes);
}

std::unique_ptr<GpuSearcher> make_gpu_searcher(int device, const SequenceSet& targets,
                                               const Options& options, const SearchOptions& search,
                                               std::uint64_t max_device_bytes) {
  return gpu_feature<GpuTable>().make_searcher(device, targets, options, search, max_device_bytes);
}

Alignment align_empty(const Options& options, std::int64_t query_length, std::int64_t target_length,
                      std::vector<std::uint32_t>& cigar) {
  Alignment row;
  if (options.mode == Mode::local) return row;
  const std::int64_t length = std::max(query_length, target_length);
  const FreeEnds& ends = options.free_ends;
  const bool free =
      options.mode == Mode::semiglobal && (query_length > 0 ? ends.query_begin || ends.query_end
                                                            : ends.target_begin || ends.target_end);
  if (length > 0 && !free) {
    row.score = static_cast<std::int32_t>(-gap_cost(options.scoring, length));
  }
  if (options.output == Output::score) return row;
  row.query_end = static_cast<std::int32_t>(query_length - 1);
  row.target_end = static_cast<std::int32_t>(target_length - 1);
  if (options.output == Output::cigar && length > 0) {
    row.cigar_begin = cigar.size();
    row.n_cigar = 1;
    cigar.push_back(static_cast<std::uint32_t>(length) << 4 |
                    (query_length > 0 ? kCigarInsertion : kCigarDeletion));
  }
  return row;
}

Int32Check::Int32Check(const Options& options)
    : max_score_(std::max(options.scoring.max_score(), 0)),
      gap_open_(options.scoring.gap_open),
      gap_extend_(options.scoring.gap_extend) {}

bool Int32Check::fits(std::uint64_t query_length, std::uint64_t target_length) const {
  // A CIGAR run has 28 bits for its length, and half of the score range stays as headroom.
  constexpr std::uint64_t kLongest = (std::uint64_t{1} << 28) - 1;
  constexpr std::int64_t kLimit = std::int64_t{1} << 30;
  if (query_length > kLongest || target_length > kLongest) return false;
  const auto shorter = static_cast<std::int64_t>(std::min(query_length, target_length));
  const auto both = static_cast<std::int64_t>(query_length + target_length);
  return shorter * max_score_ < kLimit && 3 * gap_open_ + both * gap_extend_ + 256 < kLimit;
}

void Int32Check::refuse(std::uint64_t query_length, std::uint64_t target_length) {
  throw Error(ErrorCode::failed,
              "sequences of " + std::to_string(query_length) + " and " +
                  std::to_string(target_length) +
                  " residues with these costs could leave the 32-bit range of scores; "
                  "expected shorter sequences or smaller scores");
}

void require_int32(const Options& options, std::uint64_t query_length,
                   std::uint64_t target_length) {
  Int32Check(options).require(query_length, target_length);
}

void validate(const Work& work, const Options& options) {
  if (options.scoring.gap_open < 0 || options.scoring.gap_extend < 0)
    throw Error(ErrorCode::failed, "a gap cost is negative; costs are subtracted");
  if (options.band < kNoBand || options.xdrop < kNoXdrop)
    throw Error(ErrorCode::failed, "a band or X-drop is negative");
  if (options.xdrop != kNoXdrop && options.mode != Mode::local)
    throw Error(ErrorCode::failed, "X-drop extends a local alignment; the mode is another");
  if (options.scoring.n_classes < 1 || options.scoring.n_classes > kMaxClasses)
    throw Error(ErrorCode::failed, "the scoring scheme has no or too many residue classes");
  for (const Pair& pair : work.pairs) {
    if (pair.query >= work.queries.size() || pair.target >= work.targets.size())
      throw Error(ErrorCode::failed, "a pair names a sequence outside its set");
  }
}

}  // namespace biogpu::align
