// Best local scores of many queries against many targets, in packed 16-bit words: two tracks of
// queries, laid end to end, a half each, against one target.
//
// Shapes   see SearchArgs; profile u32 [tile][letter][row / 4][lane][4]: score of both tracks' rows
//          against the letter, the pair of halves as the cells add it.
// Mapping  8 lanes a target, kRows neighbouring rows of both tracks a lane, 16 targets a block of
//          128 threads; blocks stay and draw units of work from a counter: a bundle of queries
//          against a batch of targets, or one tile of it, whose waves then wait for those of the
//          tile above, which was drawn before.
//          Where a query begins, its lane replaces what comes from above by the border; where one
//          ends, the best of its lanes is written. The profile of a tile lies in shared memory: its
//          rows are 128 bytes wide and lanes read 16 bytes each, so that banks depend on the lane
//          alone, for every letter.
// Traffic  a byte of target a step and lane from the cache, a border cell of 8 bytes read and
//          written a column and tile, by way of shared memory in runs that the lanes move
//          together; a quarter of a 16-byte shared load for two cells. Bound by instructions: 3.5
//          on the packed pipe and 2 additions for two cells.
// Result   exact below a limit: 2,047 less the highest score with small cells, 32,767 less bias and
//          highest score with wide ones. Above it a score may be wrong, but not below the limit;
//          such pairs are listed in host memory as they are found. Independent of shape, wave width
//          and batch.
// Limits   columns of a target times 8 bytes for each target in flight.
// Source   O. Gotoh, doi:10.1016/0022-2836(82)90398-9; mapping after B. Schmidt et al.,
//          doi:10.1186/s12859-024-05965-6; tracks of queries and the sums are our own.
// Oracle   align_ref, lib/align/affine_gap_ref.cpp.
#include "gpu/align/search/search_score.hpp"

#include "gpu/align/search/dp_search.hpp"
#include "gpu/prim/wave.hpp"
#include "gpu/rt/kernel.hpp"

namespace biogpu::gpu::align {
namespace {

// Resident blocks of a multiprocessor: with 4, 128 registers a thread are enough for 28 rows.
constexpr unsigned kResident = 4;
// What padding scores against small cells. It never raises one.
constexpr int kSmallPadding = -1024;

__device__ void write_score(const SearchArgs& a, int slot, std::uint32_t target, int raised) {
  // One that left the range of a cell lies above the limit this way.
  const auto score = static_cast<std::uint16_t>(raised - a.bias);
  a.score[static_cast<std::uint64_t>(slot) * a.n_targets + target] = score;
  if (score < a.limit) return;
  const std::uint32_t at = atomicAdd(a.n_inexact, 1u);
  // A single word, which the host may read at once.
  if (at < a.max_inexact)
    *static_cast<volatile std::uint64_t*>(a.inexact + at) =
        static_cast<std::uint64_t>(slot) << 32 | target;
}

template <int kWave, int kRows, SearchCells kCells>
__global__ BIOGPU_LAUNCH_BOUNDS(kSearchBlock, kResident) void search_score_kernel(SearchArgs a) {
  using Shape = ProfileShape<kRows>;
  BIOGPU_DYNAMIC_SHARED(ProfileWord, profile);
  __shared__ std::uint32_t shared_unit;
  // One cell more, so that the groups of a wave meet different banks.
  __shared__ BorderCell staged[kSearchTargets][2 * kStagedSteps + 1];
  const int group = static_cast<int>(threadIdx.x) / kSearchLanes;
  const int n_profile = (a.n_classes + 1) * Shape::kWordsOfLetter;
  for (;;) {
    __syncthreads();  // the last unit is no longer read
    if (threadIdx.x == 0) shared_unit = atomicAdd(a.progress, 1u);
    __syncthreads();
    if (shared_unit >= a.n_units) return;
    const SearchUnit unit = a.units[wave_same(shared_unit)];
    const SearchBundle bundle = a.bundles[unit.bundle];
    const SearchTargets batch = a.targets[unit.batch];
    const std::uint64_t first_letter =
        batch.begin + static_cast<std::uint64_t>(group) * batch.stride;
    const std::uint8_t* const letters = a.letters + first_letter;
    const bool is_split = unit.batch < a.n_split;
    BorderCell* const border =
        is_split ? a.split_borders + unit.bundle * a.n_split_letters + first_letter
                 : a.borders + (static_cast<std::uint64_t>(blockIdx.x) * kSearchTargets + group) *
                                   static_cast<std::uint64_t>(a.border_stride);
    const std::uint64_t first_tile = bundle.lanes / (2 * kSearchLanes);  // among those of all
    const std::uint32_t wave = wave_same(threadIdx.x / kWave);
    SearchLane<kWave, kRows, kCells> lane(a, profile, staged[group]);
    for (int tile = unit.first_tile; tile < unit.end_tile; ++tile) {
      __syncthreads();  // the last profile is no longer read
      const ProfileWord* const from =
          reinterpret_cast<const ProfileWord*>(a.profile + bundle.profile) +
          static_cast<std::uint64_t>(tile) * n_profile;
      for (int i = static_cast<int>(threadIdx.x); i < n_profile; i += kSearchBlock)
        profile[i] = from[i];
      __syncthreads();
      const SearchLaneRows* const rows =
          a.lanes + bundle.lanes + 2 * (tile * kSearchLanes + threadIdx.x % kSearchLanes);
      lane.begin_tile(rows[0], rows[1]);
      const std::uint64_t stride = static_cast<std::uint64_t>(a.n_split) * kSearchWaves;
      // Outside of the array, and not followed, where a tile has no neighbour to wait for or to
      // notify.
      std::uint32_t* const progress =
          a.progress + 1 + (first_tile + tile) * stride + unit.batch * kSearchWaves + wave;
      const SearchTile of_lane = {letters,         border,    progress - stride,          progress,
                                  batch.n_columns, tile == 0, tile + 1 == bundle.n_tiles, is_split};
      lane.fill(of_lane);
      const I16x2 best = lane.finish_tile(of_lane, rows[0], rows[1]);
      const std::uint32_t number = a.numbers[unit.batch * kSearchTargets + group];
      if (number == ~0u) continue;
      if (rows[0].slot >= 0) write_score(a, rows[0].slot, number, i16x2_low(best));
      if (rows[1].slot >= 0) write_score(a, rows[1].slot, number, i16x2_high(best));
    }
  }
}

// One block a tile of a bundle, max_tiles blocks a bundle.
__global__ void search_profile_kernel(SearchArgs a, bool small, int rows, int max_tiles) {
  const SearchBundle bundle = a.bundles[blockIdx.x / max_tiles];
  const int tile = static_cast<int>(blockIdx.x % max_tiles);
  if (tile >= bundle.n_tiles) return;
  const int words_of_letter = rows * kSearchLanes;
  const int n_words = (a.n_classes + 1) * words_of_letter;
  std::uint32_t* const to = a.profile + bundle.profile + static_cast<std::uint64_t>(tile) * n_words;
  const SearchLaneRows* const lanes = a.lanes + bundle.lanes + 2 * tile * kSearchLanes;
  for (int i = static_cast<int>(threadIdx.x); i < n_words; i += kSearchBlock) {
    const int letter = i / words_of_letter;
    const int chunk = i % words_of_letter / (4 * kSearchLanes);
    const int lane = i / 4 % kSearchLanes;
    const int row = 4 * chunk + i % 4;
    int score[2];
    for (int half = 0; half < 2; ++half) {
      const SearchLaneRows& held = lanes[2 * lane + half];
      // Padding never raises a cell, and leaves none below 0 once it is raised by the bias.
      score[half] = small ? kSmallPadding : -a.bias;
      if (letter < a.n_classes && row < held.n_rows)
        score[half] = a.scores[letter * kScoreStride + a.residues[held.residues + row]];
    }
    to[i] = small ? i16x2_small(score[0], score[1]).bits : i16x2_offset(score[0], score[1]).bits;
  }
}

template <int kRows, SearchCells kCells>
void launch_rows(const SearchArgs& a, std::uint32_t n_blocks, Stream& stream) {
  const auto kernel = stream.wave_width() == 64 ? search_score_kernel<64, kRows, kCells>
                                                : search_score_kernel<32, kRows, kCells>;
  const std::uint64_t bytes = count_profile_words(kRows, 1, a.n_classes) * sizeof(std::uint32_t);
  stream.fill(a.progress, 0, count_search_progress(a.n_tiles, a.n_split) * sizeof(std::uint32_t));
  stream.launch_shared(kernel, n_blocks, kSearchBlock, bytes, a);
}

template <SearchCells kCells>
void launch_small(SearchArgs a, int rows, std::uint32_t n_blocks, Stream& stream) {
  a.small_open = i16x2_equal(-a.gap_open).bits;  // as an argument it is a uniform operand
  switch (rows) {
    case kSearchRows[0]:
      return launch_rows<kSearchRows[0], kCells>(a, n_blocks, stream);
    case kSearchRows[1]:
      return launch_rows<kSearchRows[1], kCells>(a, n_blocks, stream);
    case kSearchRows[2]:
      return launch_rows<kSearchRows[2], kCells>(a, n_blocks, stream);
    default:
      return launch_rows<kSearchRows[3], kCells>(a, n_blocks, stream);
  }
}

}  // namespace

std::uint32_t count_search_blocks(std::uint64_t n_units, const Stream& stream) {
  const auto resident = static_cast<std::uint64_t>(stream.n_multiprocessors()) * kResident;
  return static_cast<std::uint32_t>(n_units < resident ? n_units : resident);
}

void launch_search_profile(const SearchArgs& a, SearchCells cells, int rows, int max_tiles,
                           Stream& stream) {
  if (a.n_bundles == 0 || max_tiles == 0) return;  // an empty grid is a launch error
  stream.launch(search_profile_kernel, static_cast<std::size_t>(a.n_bundles) * max_tiles,
                kSearchBlock, a, cells != SearchCells::wide, rows, max_tiles);
}

void launch_search_score(const SearchArgs& a, SearchCells cells, int rows, std::uint32_t n_blocks,
                         Stream& stream) {
  if (n_blocks == 0) return;
  if (cells == SearchCells::unit) return launch_small<SearchCells::unit>(a, rows, n_blocks, stream);
  if (cells == SearchCells::small)
    return launch_small<SearchCells::small>(a, rows, n_blocks, stream);
  if (rows == kWideSearchRows[0])
    return launch_rows<kWideSearchRows[0], SearchCells::wide>(a, n_blocks, stream);
  launch_rows<kWideSearchRows[1], SearchCells::wide>(a, n_blocks, stream);
}

}  // namespace biogpu::gpu::align
