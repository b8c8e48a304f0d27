// Best local scores of many queries against many targets, in packed 16-bit words: two queries a
// word against one target.
//
// Shapes   see SearchArgs; profile u32 [tile][letter][row / 4][lane][4]: score of both queries'
// rows
//          against the letter, the pair of halves as one number (packed16_offset).
// Mapping  8 lanes a target, kRows neighbouring rows of both queries a lane, 16 targets a block of
//          128 threads; blocks stay and draw (pair of queries, batch of targets) from a counter.
//          The profile of a tile lies in shared memory: its rows are 128 bytes wide and lanes read
//          16 bytes each, so that banks depend on the lane alone, whatever its letter.
// Traffic  a byte of target a step and lane from the cache, a border cell of 8 bytes read and
//          written a column and tile, by way of shared memory in runs that the lanes move
//          together; a quarter of a 16-byte shared load for two cells. Bound by instructions: 3.5
//          on the packed pipe and 3 plain additions for two cells.
// Result   exact below 32,767 - bias - the highest score; such a score may be too low, and is told
//          by being that high. Independent of shape, wave width and batch.
// Limits   columns of a target times 8 bytes for each target in flight.
// Source   O. Gotoh, doi:10.1016/0022-2836(82)90398-9; mapping after B. Schmidt et al.,
//          doi:10.1186/s12859-024-05965-6; two queries a word, and the bias, are our own.
// Oracle   align_ref, lib/align/align_ref.cpp.
#include "gpu/align/search_score.hpp"

#include "gpu/prim/packed16.hpp"
#include "gpu/prim/wave.hpp"
#include "gpu/rt/kernel.hpp"

namespace biogpu::gpu::align {
namespace {

// Resident blocks of a multiprocessor: with 4, 128 registers a thread are enough for 32 rows.
constexpr unsigned kResident = 4;

// Steps whose border cells lie in shared memory at a time.
constexpr int kStagedSteps = 64;

// The scores of 4 neighbouring rows.
struct alignas(16) ProfileWord {
  Packed16Offset row[4];
};

template <int kRows>
struct ProfileShape {
  static constexpr int kChunks = kRows / 4;
  static constexpr int kWordsOfLetter = kChunks * kSearchLanes;  // ProfileWord
};

// One lane: its rows of the current tile of both queries against one target.
//   h = max(diagonal + S, E, F)
//   o = h - open
//   E of the next column = max(E - extend, o, 0);  F of the next row = max(F - extend, o)
// The floor of a local alignment is taken in E, where a maximum of three has room for it: a path of
// E that is worth less than 0 never wins against beginning anew.
template <int kWave, int kRows>
class SearchLane {
 public:
  using Shape = ProfileShape<kRows>;

  __device__ SearchLane(const SearchArgs& a, const ProfileWord* profile)
      : profile_(profile + wave_lane<kWave>() % kSearchLanes),
        open_(packed16_offset(-a.gap_open, -a.gap_open)),
        extend_plain_(packed16_offset(-a.gap_extend, -a.gap_extend)),
        extend_(packed16(-a.gap_extend, -a.gap_extend)),
        floor_(packed16(a.bias, a.bias)),
        best_(floor_),
        lane_(wave_lane<kWave>() % kSearchLanes) {}

  // All lanes of the wave together. letters: of this target; border: its cells, read and written as
  // this is not the first, the last tile; staged: kStagedSteps cells of shared memory for reading
  // and as many for writing, of this group alone.
  __device__ void fill(const std::uint8_t* letters, BorderCell* border, BorderCell* staged,
                       int n_columns, bool is_first, bool is_last) {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      h_[r] = floor_;
      e_[r] = floor_;
    }
    f_ = packed16_shifted(floor_, open_);
    Packed16 h_diagonal = floor_;
    // Before its first column and behind the last a lane meets padding, which changes nothing.
    const std::uint8_t* letter_at = letters - lane_;
    const int n_steps = n_columns + kSearchLanes - 1;
    unsigned letter = *letter_at;
#pragma unroll 1
    for (int begin = 0; begin < n_steps; begin += kStagedSteps) {
      stage_border(border, staged, begin, is_first ? 0 : n_columns);
      const int end = n_steps - begin < kStagedSteps ? n_steps - begin : kStagedSteps;
#pragma unroll 1
      for (int step = 0; step < end; ++step) {
        Packed16 h_above = {wave_shuffle_up<kWave>(h_[kRows - 1].bits, 1, kSearchLanes)};
        Packed16 f_above = {wave_shuffle_up<kWave>(f_.bits, 1, kSearchLanes)};
        const BorderCell cell = staged[step];
        if (lane_ == 0) {
          h_above = {static_cast<std::uint32_t>(cell.h)};
          f_above = {static_cast<std::uint32_t>(cell.gap)};
        }
        const ProfileWord* words = profile_ + letter * Shape::kWordsOfLetter;
        letter = *++letter_at;
        fill_column(words, h_diagonal, f_above);
        h_diagonal = h_above;
        if (lane_ == kSearchLanes - 1) {
          staged[kStagedSteps + step] = {static_cast<std::int32_t>(h_[kRows - 1].bits),
                                         static_cast<std::int32_t>(f_.bits)};
        }
      }
      if (!is_last) store_border(border, staged + kStagedSteps, begin, n_columns);
    }
  }

  // The best of both queries over the lanes of the group, in every lane.
  __device__ Packed16 best() const {
    Packed16 best = best_;
    for (int mask = kSearchLanes / 2; mask > 0; mask /= 2)
      best = packed16_max(best, {wave_shuffle_xor<kWave>(best.bits, mask, kSearchLanes)});
    return best;
  }

 private:
  // The cells above the columns from begin on, as lane 0 meets them; a floor where there are none.
  // One by one, each step would wait for the memory.
  __device__ __forceinline__ void stage_border(const BorderCell* border, BorderCell* staged,
                                               int begin, int n_columns) const {
    const BorderCell none = {static_cast<std::int32_t>(floor_.bits),
                             static_cast<std::int32_t>(packed16_shifted(floor_, open_).bits)};
    wave_sync<kWave>();  // nobody reads the last cells any more
    for (int i = lane_; i < kStagedSteps; i += kSearchLanes)
      staged[i] = begin + i < n_columns ? border[begin + i] : none;
    wave_sync<kWave>();
  }

  // The cells below, which the last lane left: its column is kSearchLanes - 1 behind the step.
  __device__ __forceinline__ void store_border(BorderCell* border, const BorderCell* staged,
                                               int begin, int n_columns) const {
    wave_sync<kWave>();
    for (int i = lane_; i < kStagedSteps; i += kSearchLanes) {
      const int column = begin + i - (kSearchLanes - 1);
      if (column >= 0 && column < n_columns) border[column] = staged[i];
    }
  }

  __device__ __forceinline__ void fill_column(const ProfileWord* words, Packed16 h_diagonal,
                                              Packed16 f) {
#pragma unroll
    for (int chunk = 0; chunk < Shape::kChunks; ++chunk) {
      const ProfileWord scores = words[chunk * kSearchLanes];
      Packed16 h[4];
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        h[k] = packed16_shifted(k == 0 ? h_diagonal : h_[4 * chunk + k - 1], scores.row[k]);
      }
      h_diagonal = h_[4 * chunk + 3];
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const int r = 4 * chunk + k;
        h_[r] = packed16_max3(h[k], e_[r], f);
        const Packed16 opened = packed16_shifted(h_[r], open_);
        e_[r] = packed16_max3(packed16_shifted(e_[r], extend_plain_), opened, floor_);
        f = packed16_add_max(f, extend_, opened);
        if (k % 2 == 1) best_ = packed16_max3(best_, h_[r - 1], h_[r]);
      }
    }
    f_ = f;
  }

  const ProfileWord* profile_;
  const Packed16Offset open_;          // negated
  const Packed16Offset extend_plain_;  // negated
  const Packed16 extend_;              // negated
  const Packed16 floor_;
  Packed16 best_;
  const int lane_;

  Packed16 h_[kRows];  // of the column before
  Packed16 e_[kRows];  // of the next column
  Packed16 f_ = {};    // of the row below the lane
};

template <int kWave, int kRows>
__global__ BIOGPU_LAUNCH_BOUNDS(kSearchBlock, kResident) void search_score_kernel(SearchArgs a) {
  using Shape = ProfileShape<kRows>;
  BIOGPU_DYNAMIC_SHARED(ProfileWord, profile);
  __shared__ std::uint32_t shared_unit;
  // One cell more, so that the groups of a wave meet different banks.
  __shared__ BorderCell staged[kSearchTargets][2 * kStagedSteps + 1];
  const int group = static_cast<int>(threadIdx.x) / kSearchLanes;
  const int n_profile = (a.n_classes + 1) * Shape::kWordsOfLetter;
  BorderCell* const border =
      a.borders + (static_cast<std::uint64_t>(blockIdx.x) * kSearchTargets + group) *
                      static_cast<std::uint64_t>(a.border_stride);
  for (;;) {
    __syncthreads();  // nobody reads the last unit any more
    if (threadIdx.x == 0) shared_unit = atomicAdd(a.next_unit, 1u);
    __syncthreads();
    const std::uint32_t unit = shared_unit;
    if (unit >= a.n_query_pairs * a.n_batches) return;
    const SearchQueries queries = a.queries[unit / a.n_batches];
    const std::uint32_t batch_number = unit % a.n_batches;
    const SearchTargets batch = a.targets[batch_number];
    const std::uint8_t* const letters =
        a.letters + batch.begin + static_cast<std::uint64_t>(group) * batch.stride;
    SearchLane<kWave, kRows> lane(a, profile);
    for (int tile = 0; tile < queries.n_tiles; ++tile) {
      __syncthreads();  // nobody reads the last profile any more
      const ProfileWord* const from =
          reinterpret_cast<const ProfileWord*>(a.profile + queries.profile) +
          static_cast<std::uint64_t>(tile) * n_profile;
      for (int i = static_cast<int>(threadIdx.x); i < n_profile; i += kSearchBlock)
        profile[i] = from[i];
      __syncthreads();
      lane.fill(letters, border, staged[group], batch.n_columns, tile == 0,
                tile + 1 == queries.n_tiles);
    }
    const Packed16 best = lane.best();
    const std::uint32_t number = a.numbers[batch_number * kSearchTargets + group];
    if (threadIdx.x % kSearchLanes != 0 || number == ~0u) continue;
    const std::uint64_t at = static_cast<std::uint64_t>(queries.slot) * a.n_targets + number;
    a.score[at] = static_cast<std::uint16_t>(packed16_low(best) - a.bias);
    if (queries.n_rows[1] > 0)
      a.score[at + a.n_targets] = static_cast<std::uint16_t>(packed16_high(best) - a.bias);
  }
}

// One block a tile of a pair of queries, most_tiles blocks a pair.
__global__ void search_profile_kernel(SearchArgs a, int rows, int most_tiles) {
  const SearchQueries queries = a.queries[blockIdx.x / most_tiles];
  const int tile = static_cast<int>(blockIdx.x % most_tiles);
  if (tile >= queries.n_tiles) return;
  const int words_of_letter = rows * kSearchLanes;
  const int n_words = (a.n_classes + 1) * words_of_letter;
  std::uint32_t* const to =
      a.profile + queries.profile + static_cast<std::uint64_t>(tile) * n_words;
  for (int i = static_cast<int>(threadIdx.x); i < n_words; i += kSearchBlock) {
    const int letter = i / words_of_letter;
    const int chunk = i % words_of_letter / (4 * kSearchLanes);
    const int lane = i / 4 % kSearchLanes;
    const int row = tile * words_of_letter + lane * rows + 4 * chunk + i % 4;
    int score[2];
    for (int half = 0; half < 2; ++half) {
      const bool real = letter < a.n_classes && row < queries.n_rows[half];
      // Padding never raises a cell and leaves none below 0 once it is raised by the bias.
      score[half] = -a.bias;
      if (real)
        score[half] = a.scores[letter * kScoreStride + a.residues[queries.residues[half] + row]];
    }
    to[i] = packed16_offset(score[0], score[1]).bits;
  }
}

template <int kRows>
void launch_rows(const SearchArgs& a, std::uint32_t n_blocks, Stream& stream) {
  const auto kernel =
      stream.wave_width() == 64 ? search_score_kernel<64, kRows> : search_score_kernel<32, kRows>;
  const std::uint64_t bytes = count_profile_words(kRows, 1, a.n_classes) * sizeof(std::uint32_t);
  stream.fill(a.next_unit, 0, sizeof(std::uint32_t));
  stream.launch_shared(kernel, n_blocks, kSearchBlock, bytes, a);
}

}  // namespace

std::uint32_t count_search_blocks(std::uint64_t n_units, const Stream& stream) {
  const auto resident = static_cast<std::uint64_t>(stream.n_multiprocessors()) * kResident;
  return static_cast<std::uint32_t>(n_units < resident ? n_units : resident);
}

void launch_search_profile(const SearchArgs& a, int rows, int most_tiles, Stream& stream) {
  if (a.n_query_pairs == 0 || most_tiles == 0) return;  // an empty grid is a launch error
  stream.launch(search_profile_kernel, static_cast<std::size_t>(a.n_query_pairs) * most_tiles,
                kSearchBlock, a, rows, most_tiles);
}

void launch_search_score(const SearchArgs& a, int rows, std::uint32_t n_blocks, Stream& stream) {
  if (n_blocks == 0) return;
  switch (rows) {
    case kSearchRows[0]:
      return launch_rows<kSearchRows[0]>(a, n_blocks, stream);
    case kSearchRows[1]:
      return launch_rows<kSearchRows[1]>(a, n_blocks, stream);
    case kSearchRows[2]:
      return launch_rows<kSearchRows[2]>(a, n_blocks, stream);
    case kSearchRows[3]:
      return launch_rows<kSearchRows[3]>(a, n_blocks, stream);
    case kSearchRows[4]:
      return launch_rows<kSearchRows[4]>(a, n_blocks, stream);
    default:
      return launch_rows<kSearchRows[5]>(a, n_blocks, stream);
  }
}

}  // namespace biogpu::gpu::align
