// Where the kernel of a group gets the score vector of a cell from. Compiled once per target.
#if defined(BIOGPU_ALIGN_GROUP_SOURCE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef BIOGPU_ALIGN_GROUP_SOURCE_INL
#undef BIOGPU_ALIGN_GROUP_SOURCE_INL
#else
#define BIOGPU_ALIGN_GROUP_SOURCE_INL
#endif

#include <algorithm>
#include <cstring>

#include "lib/align/cpu/group/group_lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace biogpu::align {
namespace HWY_NAMESPACE {

// Residues are bytes. A lane of 16 bits holds its byte twice, so that one byte look-up serves both
// widths: the score comes out twice and an arithmetic shift by 8 extends its sign.
using Block = hn::CappedTag<std::uint8_t, 16>;

// rows[k] receives byte k of each of the 16 sources.
HWY_INLINE void transpose_16x16(const std::uint8_t* const* sources, hn::Vec<Block>* rows) {
  const Block d;
  hn::Vec<Block> a[16], b[16];
  for (int k = 0; k < 16; ++k) a[k] = hn::LoadU(d, sources[k]);
  for (int stage = 0; stage < 4; ++stage) {
    for (int k = 0; k < 8; ++k) {
      b[2 * k] = hn::InterleaveLower(d, a[k], a[k + 8]);
      b[2 * k + 1] = hn::InterleaveUpper(d, a[k], a[k + 8]);
    }
    for (int k = 0; k < 16; ++k) a[k] = b[k];
  }
  for (int k = 0; k < 16; ++k) rows[k] = a[k];
}

// Stores 16 lanes, the first of them `lane`, of a vector of n_lanes lanes.
template <class T>
HWY_INLINE void store_lanes(hn::Vec<Block> bytes, int lane, int n_lanes, T* vector) {
  const Block d;
  auto* out = reinterpret_cast<std::uint8_t*>(vector + lane);
  if constexpr (sizeof(T) == 1) {
    hn::StoreU(bytes, d, out);
  } else {
    hn::StoreU(hn::InterleaveLower(d, bytes, bytes), d, out);
    if (lane + 8 < n_lanes) hn::StoreU(hn::InterleaveUpper(d, bytes, bytes), d, out + 16);
  }
}

// Writes the sequences side by side: out[i * lanes + l] is residue i of lane l, mapped through
// `map` (16 entries; nullptr: as it is), padding behind the end of a sequence. `pad` goes through
// the map.
template <class T>
HWY_NOINLINE void interleave(const GroupJob& job, bool queries, std::int64_t length,
                             const std::uint8_t* map, std::uint8_t pad, T* out) {
  const int lanes = static_cast<int>(hn::Lanes(Tag<T>()));
  const Block d;
  const auto table = map != nullptr ? hn::LoadU(d, map) : hn::Zero(d);
  std::uint8_t tails[16][16];
  const std::uint8_t* sources[16];
  hn::Vec<Block> rows[16];
  for (int lane = 0; lane < lanes; lane += 16) {
    std::span<const std::uint8_t> sequences[16];
    std::int64_t shortest = length;
    for (int k = 0; k < 16; ++k) {
      if (lane + k < static_cast<int>(job.lanes.size()))
        sequences[k] = queries ? job.lanes[lane + k].query : job.lanes[lane + k].target;
      shortest = std::min<std::int64_t>(shortest, std::ssize(sequences[k]));
    }
    for (std::int64_t i = 0; i < length; i += 16) {
      for (int k = 0; k < 16; ++k) sources[k] = sequences[k].data() + i;
      for (int k = 0; k < 16 && i + 16 > shortest; ++k) {
        const std::int64_t left = std::clamp<std::int64_t>(std::ssize(sequences[k]) - i, 0, 16);
        if (left == 16) continue;
        std::memset(tails[k], pad, 16);
        if (left > 0) std::memcpy(tails[k], sources[k], static_cast<std::size_t>(left));
        sources[k] = tails[k];
      }
      transpose_16x16(sources, rows);
      const std::int64_t n = std::min<std::int64_t>(16, length - i);
      for (std::int64_t k = 0; k < n; ++k) {
        const auto bytes = map != nullptr ? hn::TableLookupBytesOr0(table, rows[k]) : rows[k];
        store_lanes(bytes, lane, lanes, out + (i + k) * lanes);
      }
    }
  }
}

// Scores of the rows of C columns by one look-up each, in a 16-entry table at query code ^ target
// code: is_xor_table() holds. Entries are raised by `bias`.
template <class T>
class TableSource {
 public:
  using V = hn::Vec<Tag<T>>;

  HWY_INLINE TableSource(const GroupJob& job, std::int64_t n_rows, std::int64_t n_columns, int bias)
      : lanes_(static_cast<std::int64_t>(hn::Lanes(Tag<T>()))) {
    HWY_ALIGN std::uint8_t entries[16], query_map[16], target_map[16];
    for (std::uint8_t c = 0; c < 16; ++c) {
      const int score = c < 4 ? job.options->scoring.score[0][c] : 0;
      entries[c] = static_cast<std::uint8_t>(score + bias);
      query_map[c] = c < 4 ? c : 8;
      target_map[c] = c < 4 ? c : 4;
    }
    const hn::Repartition<std::uint8_t, Tag<T>> d8;
    table_ = hn::LoadDup128(d8, entries);
    T* query = job.scratch->query.get<T>(n_rows * lanes_ + 16);
    T* target = job.scratch->target.get<T>(n_columns * lanes_ + 16);
    interleave<T>(job, true, n_rows, query_map, 15, query);
    interleave<T>(job, false, n_columns, target_map, 15, target);
    query_ = query;
    target_ = target;
  }

  // What the cells of C columns need, on its own: nothing of it can change under the stores of H.
  // Rows count from first_row.
  template <int C>
  struct Columns {
    using Row = V;
    hn::Vec<hn::Repartition<std::uint8_t, Tag<T>>> table;
    const T* query;
    V code[C];

    HWY_INLINE Row row(std::int64_t i) const {
      return hn::Load(Tag<T>(), query + i * static_cast<std::int64_t>(hn::Lanes(Tag<T>())));
    }
    HWY_INLINE V score(Row row, int c) const {
      const Tag<T> d;
      const hn::Repartition<std::uint8_t, Tag<T>> d8;
      const auto at = hn::BitCast(d8, hn::Xor(row, code[c]));
      const auto bytes = hn::BitCast(d, hn::TableLookupBytes(table, at));
      if constexpr (sizeof(T) == 1) {
        return bytes;
      } else {
        return hn::ShiftRight<8>(bytes);
      }
    }
    // The value of a cell that comes from its diagonal, at least `floor`.
    HWY_INLINE V from_diagonal(V diagonal, V floor, Row row, int c) const {
      return hn::Max(hn::Add(diagonal, score(row, c)), floor);
    }
  };
  template <int C>
  HWY_INLINE Columns<C> columns(std::int64_t j, std::int64_t first_row) const {
    Columns<C> columns;
    columns.table = table_;
    columns.query = query_ + first_row * lanes_;
    for (int c = 0; c < C; ++c) columns.code[c] = hn::Load(Tag<T>(), target_ + (j + c) * lanes_);
    return columns;
  }

 private:
  const T* query_;
  const T* target_;
  const std::int64_t lanes_;
  hn::Vec<hn::Repartition<std::uint8_t, Tag<T>>> table_;
};

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::align
HWY_AFTER_NAMESPACE();

#endif
