// Backward search of many patterns side by side. Each lane has one pattern; a turn does the step
// whose cache line the lane's last turn asked for, and asks for the next one's.
#include "lib/bwt/fm/fm_search.hpp"

#include <algorithm>
#include <array>

namespace biogpu::bwt {
namespace {

// Enough to cover the latency of memory with the work of the other lanes.
constexpr std::size_t kLanes = 24;
// An interval this narrow is left for the text itself where that takes fewer cache lines: finding
// the position of a row takes about sample_rate lines, the comparison two.
constexpr std::uint64_t kMaxRowsCompared = 4;

template <bool kLocate>
class Search {
 public:
  Search(const FmIndex& index, const PatternSet& patterns, std::span<const Probe> probes,
         std::span<std::uint64_t> counts, std::vector<ProbeHit>* hits)
      : index_(index),
        header_(index.header()),
        patterns_(patterns),
        probes_(probes),
        counts_(counts),
        hits_(hits) {}

  void run() {
    std::size_t n_active = 0;
    for (Lane& lane : lanes_) n_active += begin(lane) ? 1 : 0;
    while (n_active > 0) {
      for (std::size_t l = 0; l < n_active;) {
        if (!turn(lanes_[l]) && !begin(lanes_[l])) {
          --n_active;
          if (l != n_active) lanes_[l] = lanes_[n_active];
          continue;
        }
        ++l;
      }
    }
  }

 private:
  enum class Step { table, extend, walk, sample, compare };
  struct Lane {
    Step step = Step::table;
    std::uint32_t probe = 0;
    std::uint32_t left = 0;  // letters of the probe not matched yet: its first ones
    FmIndex::Interval rows;
    std::uint64_t row = 0;       // whose position is looked for
    std::uint64_t distance = 0;  // from that row's suffix to the one of rows.begin
    std::uint64_t kmer = 0;
    std::uint64_t count = 0;
    std::uint64_t position = 0;
  };

  // Takes the next probe that needs a search. False when there is none.
  bool begin(Lane& lane) {
    for (; next_ < probes_.size(); ++next_) {
      const Probe& probe = probes_[next_];
      if (!kLocate) counts_[next_] = 0;
      if (!searchable(probe)) continue;
      lane = {};
      lane.probe = static_cast<std::uint32_t>(next_++);
      const std::uint64_t k = header_.table_k;
      if (probe.length >= k) {
        lane.left = static_cast<std::uint32_t>(probe.length - k);
        lane.kmer = word(probe, lane.left) >> (64 - 2 * k);
        prefetch_table(lane.kmer);
        return true;
      }
      lane.left = probe.length;
      lane.rows = {0, header_.n_rows};
      lane.step = Step::extend;
      prefetch_rows(lane.rows);
      return true;
    }
    return false;
  }

  bool searchable(const Probe& probe) const {
    return probe.length > 0 && header_.n_rows > 0 &&
           patterns_.is_plain(patterns_[probe.pattern], probe.begin, probe.length);
  }

  std::uint64_t word(const Probe& probe, std::uint64_t i) const {
    return patterns_.word_at(patterns_[probe.pattern], probe.begin + i);
  }

  // One step; false when the lane's probe is done.
  bool turn(Lane& lane) {
    switch (lane.step) {
      case Step::table:
        lane.rows = index_.table_entry(lane.kmer);
        return settle(lane);
      case Step::extend: {
        const Probe& probe = probes_[lane.probe];
        const unsigned letter =
            patterns_.letter(patterns_[probe.pattern], probe.begin + --lane.left);
        const std::uint64_t first = header_.first_row[letter];
        lane.rows = {first + index_.rank(letter, lane.rows.begin),
                     first + index_.rank(letter, lane.rows.end)};
        return settle(lane);
      }
      case Step::walk:
        return walk(lane);
      case Step::sample:
        lane.position = index_.sample(lane.row / header_.sample_rate) + lane.distance;
        return found_position(lane);
      case Step::compare:
        if (matches_before(lane)) take(lane);
        return next_row(lane);
    }
    return false;
  }

  // What to do with the interval as it is now.
  bool settle(Lane& lane) {
    const std::uint64_t n_rows = lane.rows.end - lane.rows.begin;
    if (lane.rows.begin >= lane.rows.end) return finish(lane);
    if (lane.left == 0) {
      if (kLocate) return begin_walk(lane);
      lane.count = n_rows;
      return finish(lane);
    }
    if (n_rows <= kMaxRowsCompared && n_rows * (header_.sample_rate + 2) < lane.left)
      return begin_walk(lane);
    lane.step = Step::extend;
    prefetch_rows(lane.rows);
    return true;
  }

  bool begin_walk(Lane& lane) {
    lane.row = lane.rows.begin;
    lane.distance = 0;
    return to_row(lane);
  }

  bool next_row(Lane& lane) {
    if (++lane.rows.begin == lane.rows.end) return finish(lane);
    return begin_walk(lane);
  }

  bool to_row(Lane& lane) {
    if (lane.row % header_.sample_rate == 0) {
      lane.step = Step::sample;
      prefetch_sample(lane.row / header_.sample_rate);
    } else {
      lane.step = Step::walk;
      __builtin_prefetch(index_.blocks() + lane.row / kFmBlockRows);
    }
    return true;
  }

  bool walk(Lane& lane) {
    const FmBlock& block = index_.blocks()[lane.row / kFmBlockRows];
    const std::size_t plane = lane.row / 64 % 2;
    const std::uint64_t bit = lane.row % 64;
    if ((block.letter[plane] >> bit & 1) == 0) {
      const auto start =
          std::lower_bound(index_.starts().begin(), index_.starts().end(), lane.row,
                           [](const FmStart& s, std::uint64_t row) { return s.row < row; });
      lane.position = start->position + lane.distance;
      return found_position(lane);
    }
    const auto letter =
        static_cast<unsigned>((block.low[plane] >> bit & 1) | (block.high[plane] >> bit & 1) << 1);
    lane.row = header_.first_row[letter] +
               index_.stretches()[lane.row >> kFmStretchShift].count[letter] + block.count[letter] +
               count_in_block(block, letter, lane.row % kFmBlockRows);
    if (++lane.distance > header_.n_rows) index_.refuse_walk();
    return to_row(lane);
  }

  bool found_position(Lane& lane) {
    if (lane.position >= header_.n_rows) index_.refuse_walk();
    if (lane.left == 0) {
      take(lane);
      return next_row(lane);
    }
    if (lane.position < lane.left) return next_row(lane);
    lane.step = Step::compare;
    __builtin_prefetch(index_.text_words() + (lane.position - lane.left) / 32);
    return true;
  }

  // Whether the letters of the probe not matched yet lie before the position, in one segment.
  bool matches_before(const Lane& lane) const {
    const Probe& probe = probes_[lane.probe];
    const std::uint64_t begin = lane.position - lane.left;
    for (std::uint32_t i = 0; i < lane.left; i += 32) {
      const std::uint64_t differs = index_.text_word(begin + i) ^ word(probe, i);
      const std::uint32_t n = std::min<std::uint32_t>(32, lane.left - i);
      if (differs >> (64 - 2 * n) != 0) return false;
    }
    return index_.segment_of(lane.position).begin <= begin;
  }

  void take(Lane& lane) {
    ++lane.count;
    if (kLocate) hits_->push_back({lane.probe, lane.position - lane.left});
  }

  bool finish(const Lane& lane) {
    if (!kLocate) counts_[lane.probe] = lane.count;
    return false;
  }

  void prefetch_rows(const FmIndex::Interval& rows) const {
    __builtin_prefetch(index_.blocks() + rows.begin / kFmBlockRows);
    if (rows.begin / kFmBlockRows != rows.end / kFmBlockRows)
      __builtin_prefetch(index_.blocks() + rows.end / kFmBlockRows);
  }
  void prefetch_table(std::uint64_t kmer) const {
    __builtin_prefetch(index_.data() + header_.section[fm_table].offset +
                       2 * kmer * header_.row_bytes);
  }
  void prefetch_sample(std::uint64_t sample) const {
    __builtin_prefetch(index_.data() + header_.section[fm_samples].offset +
                       sample * header_.row_bytes);
  }

  const FmIndex& index_;
  const FmHeader& header_;
  const PatternSet& patterns_;
  const std::span<const Probe> probes_;
  const std::span<std::uint64_t> counts_;
  std::vector<ProbeHit>* const hits_;
  std::size_t next_ = 0;
  std::array<Lane, kLanes> lanes_;
};

}  // namespace

void CpuSearch::count(const PatternSet& patterns, std::span<const Probe> probes,
                      std::span<std::uint64_t> counts) {
  Search<false>(index_, patterns, probes, counts, nullptr).run();
}

void CpuSearch::locate(const PatternSet& patterns, std::span<const Probe> probes,
                       std::vector<ProbeHit>& hits) {
  Search<true>(index_, patterns, probes, {}, &hits).run();
}

}  // namespace biogpu::bwt
