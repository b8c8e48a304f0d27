// Where the kernel of a group of proteins gets the scores of a cell from. Compiled once per target.
#if defined(BIOGPU_ALIGN_GROUP_PROFILE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef BIOGPU_ALIGN_GROUP_PROFILE_INL
#undef BIOGPU_ALIGN_GROUP_PROFILE_INL
#else
#define BIOGPU_ALIGN_GROUP_PROFILE_INL
#endif

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "lib/align/cpu/group/group_source-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace biogpu::align {
namespace HWY_NAMESPACE {

// Scores of a column's classes of residues, raised by `bias`, with one query for all lanes: one
// vector per class that the query holds, by look-ups in the class's row.
//
// kThresholds: a second vector per class, the greatest diagonal that the floor swallows. A compare
// and a masked addition then take the place of an addition and a maximum, which pays where
// maxima_have_one_port().
template <class T, bool kThresholds>
class SharedSource {
 public:
  using V = hn::Vec<Tag<T>>;
  static constexpr bool kSkewable = std::is_same_v<T, std::int8_t>;
  static constexpr int kColumns = kSkewable ? kSearchColumns : kMaxColumns;

  HWY_INLINE SharedSource(const GroupJob& job, std::int64_t n_rows, std::int64_t n_columns,
                          int bias)
      : n_rows_(n_rows),
        floor_(static_cast<int>(GroupRange(*job.options, true).local_zero)),
        skew_(kSkewable ? skew_of(*job.options) : 0) {
    if (skew_ > 0) n_columns = whole_passes(n_columns);
    offsets_ = job.scratch->offsets.template get<std::uint32_t>(n_rows);
    T* target = job.scratch->target.template get<T>(n_columns * lanes() + 16);
    if (!job.same_targets) interleave<T>(job, false, n_columns, nullptr, kPad, target);
    target_ = target;
    scores_ = job.scratch->scores.template get<T>(kMaxClasses * kStride * lanes());
    bool used[kMaxClasses] = {};
    const auto query = job.lanes[0].query;
    for (std::int64_t i = 0; i < n_rows_; ++i) {
      used[query[i]] = true;
      offsets_[i] = static_cast<std::uint32_t>(query[i] * kStride * lanes());
    }
    for (int c = 0; c < kMaxClasses; ++c) {
      if (!used[c]) continue;
      classes_[n_classes_++] = c;
      for (int t = 0; t < kMaxClasses; ++t)
        rows_[c][t] = static_cast<std::uint8_t>(job.options->scoring.score[c][t] + bias + skew_);
    }
  }

  // What the cells of each column of a pass are raised by more than those of the column before, so
  // that E need not be lowered from one to the next; 0: nothing, as for ends and where that costs
  // too many of the values that a byte has.
  static int skew_of(const Options& options) {
    constexpr int kMaxSkew = 4;
    const Scoring& s = options.scoring;
    const int skew = s.gap_extend;
    if (options.output != Output::score || skew > kMaxSkew || s.gap_open < skew) return 0;
    // Scores that are looked up are bytes, raised or lowered as fill() does.
    const bool fits = s.max_score() + skew <= 127 && s.min_score() - (kColumns - 1) * skew >= -128;
    return fits ? skew : 0;
  }

  template <int C>
  struct Columns {
    using Row = std::uint32_t;
    const T* scores;  // [class][C][1 or 2][lanes]
    const std::uint32_t* offsets;

    HWY_INLINE Row row(std::int64_t i) const { return offsets[i]; }
    HWY_INLINE V score(Row row, int c) const {
      return hn::Load(Tag<T>(), scores + row + c * kVectors * lanes());
    }
    HWY_INLINE V from_diagonal(V diagonal, V floor, Row row, int c) const {
      const V sum = hn::Add(diagonal, score(row, c));
      if constexpr (kThresholds) {
        const Tag<T> d;
        const V least = hn::Load(d, scores + row + (c * kVectors + 1) * lanes());
        return hn::IfThenElse(hn::Gt(diagonal, least), sum, floor);
      } else {
        return hn::Max(sum, floor);
      }
    }
  };
  template <int C>
  HWY_INLINE Columns<C> columns(std::int64_t j, std::int64_t first_row) {
    fill<C>(target_ + j * lanes(), scores_);
    return {scores_, offsets_ + first_row};
  }

 private:
  static constexpr int kVectors = kThresholds ? 2 : 1;
  static constexpr std::int64_t kStride = kColumns * kVectors;  // vectors of a class
  static HWY_INLINE std::int64_t lanes() { return static_cast<std::int64_t>(hn::Lanes(Tag<T>())); }

  // The scores of C columns, class by class, so that a row of the table is loaded once. Padding
  // scores 0 or less.
  template <int C>
  HWY_NOINLINE void fill(const T* target, T* out) const {
    const Tag<T> d;
    const hn::Repartition<std::uint8_t, Tag<T>> d8;
    using Codes = hn::Vec<decltype(d8)>;
    // The look-up gives 0 where the high bit is set, and wants indices below 16 otherwise: each is
    // valid in its half of the row only.
    Codes low[C], high[C];
    for (int c = 0; c < C; ++c) {
      const Codes code = hn::BitCast(d8, hn::Load(d, target + c * lanes()));
      low[c] = hn::And(hn::SaturatedAdd(code, hn::Set(d8, 0x70)), hn::Set(d8, 0x8f));
      high[c] = hn::Sub(code, hn::Set(d8, 16));
    }
    [[maybe_unused]] const V back = hn::Set(d, static_cast<T>(C * skew_));
    [[maybe_unused]] const V floor = hn::Set(d, static_cast<T>(floor_));
    [[maybe_unused]] const V skew = hn::Set(d, static_cast<T>(skew_));
    const int n_classes = n_classes_;
    for (int k = 0; k < n_classes; ++k) {
      const std::uint8_t* row = rows_[classes_[k]];
      const Codes low_table = hn::LoadDup128(d8, row), high_table = hn::LoadDup128(d8, row + 16);
      T* to = out + classes_[k] * kStride * lanes();
      [[maybe_unused]] V raised = floor;
      HWY_UNROLL(8)
      for (int c = 0; c < C; ++c, to += kVectors * lanes()) {
        V bytes = hn::BitCast(d, hn::Or(hn::TableLookupBytesOr0(low_table, low[c]),
                                        hn::TableLookupBytesOr0(high_table, high[c])));
        if constexpr (sizeof(T) == 2) bytes = hn::ShiftRight<8>(bytes);
        // The column before the first of a pass is the last of another.
        if constexpr (kSkewable)
          if (c == 0) bytes = hn::Sub(bytes, back);
        hn::Store(bytes, d, to);
        if constexpr (kThresholds) {
          hn::Store(hn::SaturatedSub(raised, bytes), d, to + lanes());
          raised = hn::Add(raised, skew);
        }
      }
    }
  }

  std::int64_t n_rows_;
  int floor_, skew_;
  std::uint32_t* offsets_;
  T* scores_;
  const T* target_;
  HWY_ALIGN std::uint8_t rows_[kMaxClasses][kMaxClasses] = {};  // of the query's classes
  int classes_[kMaxClasses];
  int n_classes_ = 0;
};

// Scores of a column, raised by `bias`, where each lane has its query: one vector per row,
// transposed out of one profile per lane.
template <class T>
class ProfileSource {
 public:
  using V = hn::Vec<Tag<T>>;

  HWY_INLINE ProfileSource(const GroupJob& job, std::int64_t n_rows, std::int64_t, int bias)
      : job_(job), bias_(bias), n_rows_(n_rows), padded_rows_((n_rows + 15) / 16 * 16) {
    lanes_ = static_cast<std::int64_t>(hn::Lanes(Tag<T>()));
    prepare_profiles();
  }

  template <int C>
  struct Columns {
    using Row = std::int64_t;
    const T* scores;
    std::int64_t column_stride;

    HWY_INLINE Row row(std::int64_t i) const {
      return i * static_cast<std::int64_t>(hn::Lanes(Tag<T>()));
    }
    HWY_INLINE V score(Row row, int c) const {
      return hn::Load(Tag<T>(), scores + c * column_stride + row);
    }
    HWY_INLINE V from_diagonal(V diagonal, V floor, Row row, int c) const {
      return hn::Max(hn::Add(diagonal, score(row, c)), floor);
    }
  };
  template <int C>
  HWY_INLINE Columns<C> columns(std::int64_t j, std::int64_t first_row) {
    for (int c = 0; c < C; ++c) profile_column(j + c, scores_ + c * column_stride_);
    return {scores_ + first_row * lanes_, column_stride_};
  }

 private:
  HWY_NOINLINE void prepare_profiles() {
    column_stride_ = padded_rows_ * lanes_;
    scores_ = job_.scratch->scores.template get<T>(kMaxColumns * column_stride_ + 16);
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
          const auto low = hn::And(hn::SaturatedAdd(code, hn::Set(d, 0x70)), hn::Set(d, 0x8f));
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
  T* scores_;
  std::uint8_t* profile_ = nullptr;
};

}  // namespace HWY_NAMESPACE
}  // namespace biogpu::align
HWY_AFTER_NAMESPACE();

#endif
