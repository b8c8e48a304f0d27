// Where the kernel of a group gets the score vector of a cell from. Compiled once per target.
#if defined(BIOGPU_ALIGN_GROUP_SOURCE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef BIOGPU_ALIGN_GROUP_SOURCE_INL
#undef BIOGPU_ALIGN_GROUP_SOURCE_INL
#else
#define BIOGPU_ALIGN_GROUP_SOURCE_INL
#endif

#include <algorithm>
#include <cstring>

#include "lib/align/cpu/group_lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace biogpu::align {
namespace HWY_NAMESPACE {

// Residues are bytes. A lane of 16 bits holds its byte twice, so that one byte look-up serves both
// widths: the score comes out twice and an arithmetic shift by 8 extends its sign.
inline constexpr std::uint8_t kPad =
    0xFF;  // scores 0, unbiased: it can never raise a best local score
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
    for (std::int64_t i = 0; i < length; i += 16) {
      for (int k = 0; k < 16; ++k) {
        std::int64_t left = 0;
        if (lane + k < static_cast<int>(job.lanes.size())) {
          const auto sequence = queries ? job.lanes[lane + k].query : job.lanes[lane + k].target;
          left = std::clamp<std::int64_t>(std::ssize(sequence) - i, 0, 16);
          sources[k] = sequence.data() + i;
        }
        if (left < 16) {
          std::memset(tails[k], pad, 16);
          if (left > 0) std::memcpy(tails[k], sources[k], left);
          sources[k] = tails[k];
        }
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

  template <int C>
  struct Columns {
    V code[C];
  };
  template <int C>
  HWY_INLINE Columns<C> columns(std::int64_t j) const {
    Columns<C> columns;
    for (int c = 0; c < C; ++c) columns.code[c] = hn::Load(Tag<T>(), target_ + (j + c) * lanes_);
    return columns;
  }

  HWY_INLINE V row(std::int64_t i) const { return hn::Load(Tag<T>(), query_ + i * lanes_); }

  template <int C>
  HWY_INLINE V score(const Columns<C>& columns, V row, int c) const {
    const Tag<T> d;
    const hn::Repartition<std::uint8_t, Tag<T>> d8;
    const auto at = hn::BitCast(d8, hn::Xor(row, columns.code[c]));
    const auto bytes = hn::BitCast(d, hn::TableLookupBytes(table_, at));
    if constexpr (sizeof(T) == 1) {
      return bytes;
    } else {
      return hn::ShiftRight<8>(bytes);
    }
  }

 private:
  const T* query_;
  const T* target_;
  const std::int64_t lanes_;
  hn::Vec<hn::Repartition<std::uint8_t, Tag<T>>> table_;
};

// Scores from vectors prepared for each column, raised by `bias`. With one query for all lanes: one
// vector per residue class of that query, by look-ups in the class's row. Else: one vector per row,
// transposed out of one profile per lane.
template <class T>
class ProfileSource {
 public:
  using V = hn::Vec<Tag<T>>;

  HWY_INLINE ProfileSource(const GroupJob& job, std::int64_t n_rows, std::int64_t n_columns,
                           int bias)
      : job_(job), bias_(bias), n_rows_(n_rows), padded_rows_((n_rows + 15) / 16 * 16) {
    lanes_ = static_cast<std::int64_t>(hn::Lanes(Tag<T>()));
    offsets_ = job.scratch->offsets.get<std::uint32_t>(n_rows);
    if (job.same_query) {
      prepare_shared(n_columns);
    } else {
      prepare_profiles();
    }
  }

  template <int C>
  struct Columns {
    const T* scores;  // [C][column_stride_]
  };
  template <int C>
  HWY_INLINE Columns<C> columns(std::int64_t j) {
    for (int c = 0; c < C; ++c) {
      if (job_.same_query) {
        shared_column(j + c, scores_ + c * column_stride_);
      } else {
        profile_column(j + c, scores_ + c * column_stride_);
      }
    }
    return {scores_};
  }

  HWY_INLINE std::uint32_t row(std::int64_t i) const { return offsets_[i]; }

  template <int C>
  HWY_INLINE V score(const Columns<C>& columns, std::uint32_t row, int c) const {
    return hn::Load(Tag<T>(), columns.scores + c * column_stride_ + row);
  }

 private:
  HWY_NOINLINE void prepare_shared(std::int64_t n_columns) {
    T* target = job_.scratch->target.template get<T>(n_columns * lanes_ + 16);
    interleave<T>(job_, false, n_columns, nullptr, kPad, target);
    target_ = target;
    column_stride_ = kMaxClasses * lanes_;
    scores_ = job_.scratch->scores.template get<T>(kMostColumns * column_stride_);
    bool used[kMaxClasses] = {};
    const auto query = job_.lanes[0].query;
    for (std::int64_t i = 0; i < n_rows_; ++i) {
      used[query[i]] = true;
      offsets_[i] = static_cast<std::uint32_t>(query[i] * lanes_);
    }
    for (int c = 0; c < kMaxClasses; ++c) {
      if (!used[c]) continue;
      classes_[n_classes_++] = c;
      for (int t = 0; t < kMaxClasses; ++t)
        rows_[c][t] = static_cast<std::uint8_t>(job_.options->scoring.score[c][t] + bias_);
    }
  }

  HWY_NOINLINE void shared_column(std::int64_t j, T* out) const {
    const Tag<T> d;
    const hn::Repartition<std::uint8_t, Tag<T>> d8;
    const auto code = hn::BitCast(d8, hn::Load(d, target_ + j * lanes_));
    // The look-up gives 0 where the high bit is set: each index is valid in its half of the row
    // only.
    const auto low = hn::SaturatedAdd(code, hn::Set(d8, 0x70));
    const auto high = hn::Sub(code, hn::Set(d8, 16));
    for (int k = 0; k < n_classes_; ++k) {
      const std::uint8_t* row = rows_[classes_[k]];
      auto bytes =
          hn::BitCast(d, hn::Or(hn::TableLookupBytesOr0(hn::LoadDup128(d8, row), low),
                                hn::TableLookupBytesOr0(hn::LoadDup128(d8, row + 16), high)));
      if constexpr (sizeof(T) == 2) bytes = hn::ShiftRight<8>(bytes);
      hn::Store(bytes, d, out + classes_[k] * lanes_);
    }
  }

  HWY_NOINLINE void prepare_profiles() {
    column_stride_ = padded_rows_ * lanes_;
    scores_ = job_.scratch->scores.template get<T>(kMostColumns * column_stride_ + 16);
    for (std::int64_t i = 0; i < n_rows_; ++i) offsets_[i] = static_cast<std::uint32_t>(i * lanes_);
    // One row more than there are classes: zeros, for lanes whose target has ended.
    const Scoring& scoring = job_.options->scoring;
    const std::int64_t rows = scoring.n_classes + 1;
    const auto n = static_cast<std::int64_t>(job_.lanes.size());
    profile_ = job_.scratch->profile.template get<std::uint8_t>(n * rows * padded_rows_);
    const Block d;
    HWY_ALIGN std::uint8_t scores[kMaxClasses];
    HWY_ALIGN std::uint8_t tail[16];
    for (std::int64_t lane = 0; lane < n; ++lane) {
      const auto query = job_.lanes[lane].query;
      std::uint8_t* out = profile_ + lane * rows * padded_rows_;
      std::memset(out + (rows - 1) * padded_rows_, 0, padded_rows_);
      for (int t = 0; t < scoring.n_classes; ++t, out += padded_rows_) {
        for (int q = 0; q < kMaxClasses; ++q)
          scores[q] = static_cast<std::uint8_t>(scoring.score[q][t] + bias_);
        const auto low_table = hn::Load(d, scores), high_table = hn::Load(d, scores + 16);
        for (std::int64_t i = 0; i < padded_rows_; i += 16) {
          const std::int64_t left = std::clamp<std::int64_t>(std::ssize(query) - i, 0, 16);
          if (left < 16) {
            std::memset(tail, kPad, 16);
            if (left > 0) std::memcpy(tail, query.data() + i, left);
          }
          const auto code = hn::LoadU(d, left < 16 ? tail : query.data() + i);
          const auto low = hn::SaturatedAdd(code, hn::Set(d, 0x70));
          const auto high = hn::Sub(code, hn::Set(d, 16));
          hn::StoreU(hn::Or(hn::TableLookupBytesOr0(low_table, low),
                            hn::TableLookupBytesOr0(high_table, high)),
                     d, out + i);
        }
      }
    }
  }

  HWY_NOINLINE void profile_column(std::int64_t j, T* out) const {
    const std::int64_t rows = job_.options->scoring.n_classes + 1;
    const auto n = static_cast<std::int64_t>(job_.lanes.size());
    const std::uint8_t* sources[16];
    hn::Vec<Block> block[16];
    for (std::int64_t lane = 0; lane < lanes_; lane += 16) {
      for (int k = 0; k < 16; ++k) {
        const std::int64_t l = std::min<std::int64_t>(lane + k, n - 1);
        const auto target = job_.lanes[l].target;
        const std::int64_t row = j < std::ssize(target) ? target[j] : rows - 1;
        sources[k] = profile_ + (l * rows + row) * padded_rows_;
      }
      for (std::int64_t i = 0; i < n_rows_; i += 16) {
        transpose_16x16(sources, block);
        for (int k = 0; k < 16; ++k) {
          store_lanes(block[k], static_cast<int>(lane), static_cast<int>(lanes_),
                      out + (i + k) * lanes_);
          sources[k] += 16;
        }
      }
    }
    if constexpr (sizeof(T) == 2) {
      const Tag<T> d;
      for (std::int64_t i = 0; i < n_rows_; ++i)
        hn::Store(hn::ShiftRight<8>(hn::Load(d, out + i * lanes_)), d, out + i * lanes_);
    }
  }

  const GroupJob& job_;
  const int bias_;
  std::int64_t n_rows_, padded_rows_, lanes_, column_stride_ = 0;
  std::uint32_t* offsets_;
  T* scores_;
  const T* target_ = nullptr;
  std::uint8_t* profile_ = nullptr;
  HWY_ALIGN std::uint8_t rows_[kMaxClasses][kMaxClasses] = {};  // of the query's classes
  int classes_[kMaxClasses];
  int n_classes_ = 0;
};

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::align
HWY_AFTER_NAMESPACE();

#endif
