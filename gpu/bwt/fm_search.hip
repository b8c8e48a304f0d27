// Backward search: how often, and where, each probe occurs in an indexed text.
//
// Shapes   FmArrays and FmProbe of gpu/bwt/fm_search.hpp; counts[n_probes] u32, positions u64.
// Mapping  one thread a probe, 256 threads a block; the waves of a multiprocessor hide each other's
//          waiting for memory.
// Traffic  a probe of m letters reads one entry of the table, then 64 or 128 bytes a step until at
//          most kMaxRowsCompared rows are left; these cost about sample_rate steps of 64 bytes and
//          m / 4 bytes of text each. Bound by random access; no shared memory, no atomics.
// Result   the same for every grid and wave width; positions in the order of their rows.
// Errors   damaged is set to 1 where rows lead in a circle or out of the text; what was found then
//          means nothing.
// Limits   a probe with 2^32 or more occurrences counts modulo 2^32: texts are shorter.
// Source   Ferragina, Manzini: doi:10.1109/SFCS.2000.892127
// Oracle   count_exact and locate_exact, lib/bwt/fm/fm_search.cpp
#include "gpu/bwt/fm_search.hpp"
#include "gpu/rt/kernel.hpp"

namespace biogpu::gpu::bwt {
namespace {

constexpr unsigned kBlock = 256;
constexpr std::uint64_t kMaxRowsCompared = 4;
constexpr std::uint64_t kWordsPerBlock = 8;
constexpr std::uint64_t kAllBits = ~std::uint64_t{0};

struct Rows {
  std::uint64_t begin;
  std::uint64_t end;
};

__device__ __forceinline__ std::uint64_t packed_word(const std::uint64_t* words, std::uint64_t i) {
  const std::uint64_t* const word = words + (i >> 5);
  const unsigned shift = 2 * (i & 31);
  return word[0] << shift | word[1] >> 1 >> (63 - shift);
}

// Rows of the block before bit `offset` whose symbol is the letter, and those of blocks before.
__device__ __forceinline__ std::uint64_t rank_in(const FmArrays& index, unsigned letter,
                                                 std::uint64_t row) {
  const std::uint64_t* const block = index.blocks + (row >> 7) * kWordsPerBlock;
  const std::uint64_t count = block[letter >> 1] >> (32 * (letter & 1)) & 0xffffffffu;
  const std::uint64_t low = (letter & 1) != 0 ? 0 : kAllBits;
  const std::uint64_t high = (letter & 2) != 0 ? 0 : kAllBits;
  const std::uint64_t first = (block[2] ^ low) & (block[4] ^ high) & block[6];
  const std::uint64_t second = (block[3] ^ low) & (block[5] ^ high) & block[7];
  const std::uint64_t offset = row & 127;
  const std::uint64_t one = 1;
  const std::uint64_t first_mask = offset >= 64 ? kAllBits : (one << offset) - 1;
  const std::uint64_t second_mask = offset > 64 ? (one << (offset - 64)) - 1 : 0;
  return index.stretches[4 * (row >> 31) + letter] + count +
         static_cast<std::uint64_t>(__popcll(first & first_mask) + __popcll(second & second_mask));
}

__device__ __forceinline__ std::uint64_t value_at(const FmArrays& index, const std::uint8_t* values,
                                                  std::uint64_t i) {
  return index.row_bytes == 4 ? reinterpret_cast<const std::uint32_t*>(values)[i]
                              : reinterpret_cast<const std::uint64_t*>(values)[i];
}

// Where a row leads that no position is found for, as the index contradicts itself.
constexpr std::uint64_t kNowhere = kAllBits;

__device__ __forceinline__ std::uint64_t position_behind(const FmArrays& index, std::uint64_t known,
                                                         std::uint64_t steps) {
  return known + steps < index.n_rows ? known + steps : kNowhere;
}

// Position of the suffix in a row: steps back through the text until a position is known.
__device__ std::uint64_t position_of(const FmArrays& index, std::uint64_t row) {
  std::uint64_t steps = 0;
  while (row % index.sample_rate != 0) {
    if (steps > index.n_rows) return kNowhere;
    const std::uint64_t* const block = index.blocks + (row >> 7) * kWordsPerBlock;
    const unsigned word = row >> 6 & 1;
    const unsigned bit = row & 63;
    if ((block[6 + word] >> bit & 1) == 0) {  // a segment begins here
      std::uint64_t low = 0;
      std::uint64_t high = index.n_segments;
      while (high - low > 1) {
        const std::uint64_t middle = (low + high) / 2;
        if (index.starts[2 * middle] <= row) {
          low = middle;
        } else {
          high = middle;
        }
      }
      return position_behind(index, index.starts[2 * low + 1], steps);
    }
    const unsigned letter =
        static_cast<unsigned>((block[2 + word] >> bit & 1) | (block[4 + word] >> bit & 1) << 1);
    row = index.first_row[letter] + rank_in(index, letter, row);
    ++steps;
  }
  return position_behind(index, value_at(index, index.samples, row / index.sample_rate), steps);
}

// Whether the first `left` letters of the probe lie before the position, in one segment.
__device__ bool matches_before(const FmArrays& index, const std::uint64_t* patterns,
                               const FmProbe& probe, std::uint32_t left, std::uint64_t position) {
  if (position < left) return false;
  const std::uint64_t begin = position - left;
  for (std::uint32_t i = 0; i < left; i += 32) {
    const std::uint64_t differs =
        packed_word(index.text, begin + i) ^ packed_word(patterns, probe.begin + i);
    const std::uint32_t n = left - i < 32 ? left - i : 32;
    if (differs >> (64 - 2 * n) != 0) return false;
  }
  std::uint64_t low = 0;
  std::uint64_t high = index.n_segments;
  while (high - low > 1) {
    const std::uint64_t middle = (low + high) / 2;
    if (index.segments[4 * middle] <= position) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return index.segments[4 * low] <= begin;
}

// Narrows to the rows of the probe, or to few rows of its last letters; *left letters before them
// are then unmatched.
__device__ Rows narrow(const FmArrays& index, const std::uint64_t* patterns, const FmProbe& probe,
                       std::uint32_t* left) {
  Rows rows = {0, index.n_rows};
  *left = probe.length;
  if (probe.searchable == 0 || probe.length == 0 || index.n_rows == 0) return {0, 0};
  if (probe.length >= index.table_k) {
    *left = probe.length - static_cast<std::uint32_t>(index.table_k);
    const std::uint64_t kmer =
        packed_word(patterns, probe.begin + *left) >> (64 - 2 * index.table_k);
    rows = {value_at(index, index.table, 2 * kmer), value_at(index, index.table, 2 * kmer + 1)};
  }
  while (*left > 0 && rows.begin < rows.end) {
    const std::uint64_t n_rows = rows.end - rows.begin;
    if (n_rows <= kMaxRowsCompared && n_rows * (index.sample_rate + 2) < *left) break;
    --*left;
    const std::uint64_t at = probe.begin + *left;
    const unsigned letter = static_cast<unsigned>(patterns[at >> 5] >> (62 - 2 * (at & 31)) & 3);
    const std::uint64_t first = index.first_row[letter];
    rows = {first + rank_in(index, letter, rows.begin), first + rank_in(index, letter, rows.end)};
  }
  return rows;
}

__global__ __launch_bounds__(kBlock) void fm_count_kernel(FmArrays index,
                                                          const std::uint64_t* patterns,
                                                          const FmProbe* probes,
                                                          std::uint32_t n_probes,
                                                          std::uint32_t* counts) {
  const std::uint32_t i = blockIdx.x * kBlock + threadIdx.x;
  if (i >= n_probes) return;
  const FmProbe probe = probes[i];
  std::uint32_t left = 0;
  const Rows rows = narrow(index, patterns, probe, &left);
  std::uint32_t count = 0;
  if (left == 0) {
    count = rows.begin < rows.end ? static_cast<std::uint32_t>(rows.end - rows.begin) : 0;
  } else {
    for (std::uint64_t row = rows.begin; row < rows.end; ++row) {
      const std::uint64_t position = position_of(index, row);
      if (position == kNowhere) {
        *index.damaged = 1;
        break;
      }
      count += matches_before(index, patterns, probe, left, position) ? 1 : 0;
    }
  }
  counts[i] = count;
}

__global__ __launch_bounds__(kBlock) void fm_locate_kernel(
    FmArrays index, const std::uint64_t* patterns, const FmProbe* probes, std::uint32_t n_probes,
    const std::uint64_t* first, std::uint64_t* positions) {
  const std::uint32_t i = blockIdx.x * kBlock + threadIdx.x;
  if (i >= n_probes) return;
  const FmProbe probe = probes[i];
  std::uint32_t left = 0;
  const Rows rows = narrow(index, patterns, probe, &left);
  std::uint64_t* to = positions + first[i];
  for (std::uint64_t row = rows.begin; row < rows.end; ++row) {
    const std::uint64_t position = position_of(index, row);
    if (position == kNowhere) {
      *index.damaged = 1;
      break;
    }
    if (left == 0 || matches_before(index, patterns, probe, left, position))
      *to++ = position - left;
  }
}

}  // namespace

void launch_fm_count(const FmArrays& index, const std::uint64_t* patterns, const FmProbe* probes,
                     std::uint32_t n_probes, std::uint32_t* counts, Stream& stream) {
  if (n_probes == 0) return;
  stream.launch(fm_count_kernel, ceil_div<std::size_t>(n_probes, kBlock), kBlock, index, patterns,
                probes, n_probes, counts);
}

void launch_fm_locate(const FmArrays& index, const std::uint64_t* patterns, const FmProbe* probes,
                      std::uint32_t n_probes, const std::uint64_t* first, std::uint64_t* positions,
                      Stream& stream) {
  if (n_probes == 0) return;
  stream.launch(fm_locate_kernel, ceil_div<std::size_t>(n_probes, kBlock), kBlock, index, patterns,
                probes, n_probes, first, positions);
}

}  // namespace biogpu::gpu::bwt
