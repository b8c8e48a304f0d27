// Each lane has one query; a turn does the step whose cache line the lane's last turn asked for,
// and asks for the next one's.
#include "lib/bwt/smem/smem_search.hpp"

#include <algorithm>
#include <array>

#include "lib/bwt/smem/smem.hpp"

namespace biogpu::bwt {
namespace {

// Enough to cover the latency of memory with the work of the other lanes.
constexpr std::size_t kLanes = 32;
// Rows are left for the text where finding their positions, of sample_rate steps for each at most,
// takes fewer steps than going on: a step of either kind costs the line of one block.
constexpr std::uint64_t kMaxRowsCompared = 64;

constexpr auto kCodes = [] {
  std::array<std::uint8_t, 256> codes{};
  codes.fill(4);
  for (std::uint8_t base = 0; base < 4; ++base)
    codes[static_cast<unsigned char>("ACGT"[base])] =
        codes[static_cast<unsigned char>("acgt"[base])] = base;
  return codes;
}();

struct Lane {
  enum class Step { kmer, left, right, walk, sample, compare };
  Step step = Step::kmer;
  std::uint32_t number = 0;  // of the query
  SmemQueries::Query query{};
  std::uint32_t run_end = 0;  // of bases without another letter
  // The match is query[begin, end); no match begins before stop.
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::uint32_t stop = 0;
  bool whole = false;  // it is known that the match is maximal
  BwaFm::Rows rows;
  // Runs of rows whose positions are looked for; `first` is the place of the first in `sampled`.
  struct Run {
    std::uint64_t row = 0;
    std::uint64_t n_rows = 0;
    std::uint64_t first = 0;
    std::uint64_t n_steps = 0;  // done
  };
  // The sampled row that a row leads to by so many steps, once it is reached.
  struct Sampled {
    std::uint64_t row = 0;
    std::uint64_t n_steps = 0;
    bool found = false;
  };
  std::vector<Run> runs;
  std::vector<Sampled> sampled;
  std::vector<std::uint64_t> located;  // positions
  std::vector<SmemMatches::Match> matches;
  std::vector<std::uint64_t> positions;

  std::uint64_t word_at(std::uint64_t i) const {
    const std::uint64_t* const word = query.words + (i >> 5);
    const unsigned shift = 2 * (i & 31);
    return word[0] << shift | word[1] >> 1 >> (63 - shift);
  }
  std::uint64_t word_before(std::uint64_t i) const {
    if (i >= 32) return word_at(i - 32);
    return i == 0 ? 0 : word_at(0) >> (64 - 2 * i);
  }
};

class Search {
 public:
  Search(const BwaFm& index, const BwaKmers& kmers, const SmemSettings& settings,
         const SmemQueries& queries, SmemMatches& found)
      : index_(index), kmers_(kmers), settings_(settings), queries_(queries), found_(found) {}

  void run() {
    lanes_.resize(std::min(kLanes, queries_.size()));
    std::size_t n_active = 0;
    while (n_active < lanes_.size() && begin(lanes_[n_active])) ++n_active;
    while (n_active > 0) {
      for (std::size_t l = 0; l < n_active;) {
        if (turn(lanes_[l])) {
          ++l;
          continue;
        }
        finish(lanes_[l]);
        if (!begin(lanes_[l])) std::swap(lanes_[l], lanes_[--n_active]);
      }
    }
  }

 private:
  using Step = Lane::Step;

  // Takes the next query that can have a match. False when there is none.
  bool begin(Lane& lane) {
    while (next_ < queries_.size()) {
      lane.number = static_cast<std::uint32_t>(next_);
      lane.query = queries_[next_++];
      lane.matches.clear();
      lane.positions.clear();
      if (begin_run(lane, 0)) return true;
    }
    return false;
  }

  // Appends the lane's matches to those found.
  void finish(const Lane& lane) {
    found_.of_query[lane.number] = {found_.matches.size(), lane.matches.size()};
    for (SmemMatches::Match match : lane.matches) {
      match.first_position += found_.positions.size();
      found_.matches.push_back(match);
    }
    found_.positions.insert(found_.positions.end(), lane.positions.begin(), lane.positions.end());
  }

  // One step; false when the query is done.
  bool turn(Lane& lane) {
    switch (lane.step) {
      case Step::kmer:
        return take_kmer(lane);
      case Step::left: {
        const BwaFm::Rows next = index_.extend_left(lane.rows, lane.query.codes[lane.begin - 1]);
        if (next.size == 0) return end_left(lane);
        lane.rows = next;
        --lane.begin;
        return go_left(lane);
      }
      case Step::right: {
        const BwaFm::Rows next = index_.extend_right(lane.rows, lane.query.codes[lane.end]);
        if (next.size == 0) return report(lane);
        lane.rows = next;
        ++lane.end;
        return go_right(lane);
      }
      case Step::walk:
        return walk(lane);
      case Step::sample:
        return take_samples(lane);
      case Step::compare:
        return compare(lane);
    }
    return false;
  }

  // Goes to the first run of bases from position i on that is long enough.
  bool begin_run(Lane& lane, std::uint32_t i) const {
    const std::uint8_t* const codes = lane.query.codes;
    const std::uint32_t n = lane.query.length;
    while (i < n) {
      while (i < n && codes[i] > 3) ++i;
      lane.run_end = i;
      while (lane.run_end < n && codes[lane.run_end] <= 3) ++lane.run_end;
      if (lane.run_end - i >= settings_.min_length) return begin_window(lane, i);
      i = lane.run_end;
    }
    return false;
  }

  // No match begins before position i any more.
  bool begin_window(Lane& lane, std::uint32_t i) const {
    if (lane.run_end - i < settings_.min_length) return begin_run(lane, lane.run_end);
    lane.stop = i;
    lane.end = i + settings_.min_length;
    return begin_left(lane);
  }

  // Begins to match from lane.end to the left.
  bool begin_left(Lane& lane) const {
    lane.whole = false;
    if (lane.end - lane.stop < kmers_.k()) return begin_bases(lane);
    lane.step = Step::kmer;
    kmers_.prefetch(last_bases(lane));
    return true;
  }
  std::uint64_t last_bases(const Lane& lane) const {
    return lane.word_before(lane.end) & ((std::uint64_t{1} << 2 * kmers_.k()) - 1);
  }
  bool take_kmer(Lane& lane) const {
    lane.rows = kmers_[last_bases(lane)];
    if (lane.rows.size == 0) return begin_bases(lane);
    lane.begin = lane.end - kmers_.k();
    return go_left(lane);
  }
  bool begin_bases(Lane& lane) const {
    lane.rows = index_.all_rows();
    lane.begin = lane.end;
    return go_left(lane);
  }

  bool go_left(Lane& lane) const {
    if (lane.begin == lane.stop) return end_left(lane);
    if (is_for_text(lane)) return locate(lane);
    lane.step = Step::left;
    index_.prefetch_left(lane.rows);
    return true;
  }

  // The match goes no further to the left.
  bool end_left(Lane& lane) const {
    if (lane.end - lane.begin < settings_.min_length) return begin_window(lane, lane.begin);
    lane.stop = lane.begin;
    return go_right(lane);
  }

  bool go_right(Lane& lane) const {
    if (lane.end == lane.run_end) return report(lane);
    if (is_for_text(lane)) return locate(lane);
    lane.step = Step::right;
    index_.prefetch_right(lane.rows);
    return true;
  }

  bool is_for_text(const Lane& lane) const {
    // The empty match has every row, that of the text's end too, which is no place of a query.
    if (lane.begin == lane.end) return false;
    if (!index_.text().is_there() || lane.rows.size > kMaxRowsCompared) return false;
    std::uint64_t n_located = lane.rows.size;
    std::uint64_t n_saved = lane.begin - lane.stop;
    if (lane.end - lane.begin >= settings_.min_length) {
      // At least one position will be wanted.
      n_located -= std::min<std::uint64_t>(1, settings_.max_places);
      n_saved += lane.run_end - lane.end;
    }
    return n_located * index_.sample_rate() < n_saved;
  }

  // The match is maximal.
  bool report(Lane& lane) const {
    lane.whole = true;
    if (lane.rows.size <= settings_.max_places) return locate(lane);
    lane.matches.push_back({lane.begin, lane.end, lane.rows.size, 0});
    return begin_behind(lane);
  }
  // A match that goes on behind this one's end contains the base there.
  bool begin_behind(Lane& lane) const {
    if (lane.end == lane.run_end) return begin_run(lane, lane.run_end);
    lane.stop = lane.begin + 1;
    ++lane.end;
    return begin_left(lane);
  }

  // Looks for the positions of all rows of the match. Copies in a text have the same bases before
  // them too: rows in a run walk together.
  bool locate(Lane& lane) const {
    lane.step = Step::walk;
    lane.sampled.assign(lane.rows.size, {});
    lane.runs.assign(1, {lane.rows.begin, lane.rows.size, 0, 0});
    return arrive(lane);
  }
  bool walk(Lane& lane) const {
    Lane::Run& run = lane.runs.back();
    if (run.n_rows == 1) {
      run.row = index_.row_before(run.row);
      if (++run.n_steps > index_.size()) index_.refuse_transform();
      index_.prefetch_row(run.row);
      return !index_.is_sampled(run.row) || arrive(lane);
    }
    const BwaFm::Step step = index_.rows_before(run.row, run.n_rows);
    const Lane::Run rest{run.row + step.n_rows, run.n_rows - step.n_rows, run.first + step.n_rows,
                         run.n_steps};
    run.row = step.row;
    run.n_rows = step.n_rows;
    if (++run.n_steps > index_.size()) index_.refuse_transform();
    if (rest.n_rows != 0) lane.runs.insert(lane.runs.end() - 1, rest);
    return arrive(lane);
  }
  // Enters the sampled rows of the last run and goes on with those rows that are left.
  bool arrive(Lane& lane) const {
    while (!lane.runs.empty()) {
      Lane::Run& run = lane.runs.back();
      enter_samples(lane, run);
      for (; run.n_rows != 0 && lane.sampled[run.first].found; --run.n_rows) {
        ++run.row;
        ++run.first;
      }
      while (run.n_rows != 0 && lane.sampled[run.first + run.n_rows - 1].found) --run.n_rows;
      if (run.n_rows != 0) {
        index_.prefetch_row(run.row);
        return true;
      }
      lane.runs.pop_back();
    }
    lane.step = Step::sample;
    for (const Lane::Sampled& sampled : lane.sampled) index_.prefetch_sample(sampled.row);
    return true;
  }
  void enter_samples(Lane& lane, const Lane::Run& run) const {
    const std::uint64_t end = run.row + run.n_rows;
    for (std::uint64_t row = index_.next_sample(run.row); row < end;
         row = index_.next_sample(row + 1)) {
      Lane::Sampled& sampled = lane.sampled[run.first + (row - run.row)];
      if (!sampled.found) sampled = {row, run.n_steps, true};
    }
  }
  bool take_samples(Lane& lane) const {
    lane.located.clear();
    for (const Lane::Sampled& sampled : lane.sampled)
      lane.located.push_back(index_.sampled_position(sampled.row, sampled.n_steps));
    if (lane.whole) {
      add_match(lane, lane.located);
      return begin_behind(lane);
    }
    lane.step = Step::compare;
    for (const std::uint64_t position : lane.located) index_.text().prefetch(position);
    return true;
  }

  // How far a match at this position goes on from query[from] on, and before it.
  std::uint32_t n_equal_behind(const Lane& lane, std::uint64_t position, std::uint32_t from,
                               std::uint64_t limit) const {
    limit = std::min(limit, index_.text().size() - position);
    for (std::uint64_t i = 0; i < limit; i += 32) {
      const std::uint64_t differs = index_.text().word_at(position + i) ^ lane.word_at(from + i);
      if (differs == 0) continue;
      const auto n = static_cast<std::uint64_t>(__builtin_clzll(differs)) / 2;
      return static_cast<std::uint32_t>(std::min(limit, i + n));
    }
    return static_cast<std::uint32_t>(limit);
  }
  std::uint32_t n_equal_before(const Lane& lane, std::uint64_t position, std::uint32_t to,
                               std::uint64_t limit) const {
    limit = std::min(limit, position);
    for (std::uint64_t i = 0; i < limit; i += 32) {
      const std::uint64_t differs =
          index_.text().word_before(position - i) ^ lane.word_before(to - i);
      if (differs == 0) continue;
      const auto n = static_cast<std::uint64_t>(__builtin_ctzll(differs)) / 2;
      return static_cast<std::uint32_t>(std::min(limit, i + n));
    }
    return static_cast<std::uint32_t>(limit);
  }

  // The places that match on furthest to the left, of them those furthest to the right.
  bool compare(Lane& lane) const {
    std::uint32_t max_before = 0;
    for (const std::uint64_t position : lane.located)
      max_before =
          std::max(max_before, n_equal_before(lane, position, lane.begin, lane.begin - lane.stop));
    if (lane.end - lane.begin + max_before < settings_.min_length)
      return begin_window(lane, lane.begin - max_before);
    std::erase_if(lane.located, [&](std::uint64_t position) {
      return n_equal_before(lane, position, lane.begin, max_before) < max_before;
    });
    std::uint32_t max_behind = 0;
    for (const std::uint64_t position : lane.located)
      max_behind = std::max(max_behind,
                            n_equal_behind(lane, position, lane.begin, lane.run_end - lane.begin));
    // All places have what is matched so far.
    if (max_behind < lane.end - lane.begin) index_.refuse_text();
    std::erase_if(lane.located, [&](std::uint64_t position) {
      return n_equal_behind(lane, position, lane.begin, max_behind) < max_behind;
    });
    for (std::uint64_t& position : lane.located) position -= max_before;
    lane.end = lane.begin + max_behind;
    lane.begin -= max_before;
    add_match(lane, lane.located);
    return begin_behind(lane);
  }

  void add_match(Lane& lane, const std::vector<std::uint64_t>& positions) const {
    lane.matches.push_back({lane.begin, lane.end, positions.size(), lane.positions.size()});
    if (positions.size() <= settings_.max_places)
      lane.positions.insert(lane.positions.end(), positions.begin(), positions.end());
  }

  const BwaFm& index_;
  const BwaKmers& kmers_;
  const SmemSettings& settings_;
  const SmemQueries& queries_;
  SmemMatches& found_;
  std::size_t next_ = 0;
  std::vector<Lane> lanes_;
};

// In a text without one of the bases, bwa tells matches that occur nowhere.
void find_plainly(const BwaFm& index, const SmemSettings& settings, const SmemQueries& queries,
                  SmemMatches& found) {
  SmemFinder finder(index);
  std::vector<Smem> matches;
  for (std::size_t q = 0; q < queries.size(); ++q) {
    matches.clear();
    finder.find({queries[q].codes, queries[q].length}, matches);
    found.of_query[q].first = found.matches.size();
    for (const Smem& match : matches) {
      if (match.end - match.begin < settings.min_length) continue;
      found.matches.push_back({match.begin, match.end, match.rows.size, found.positions.size()});
      if (match.rows.size > settings.max_places) continue;
      for (std::uint64_t i = 0; i < match.rows.size; ++i)
        found.positions.push_back(index.position(match.rows.begin + i));
    }
    found.of_query[q].n = found.matches.size() - found.of_query[q].first;
  }
}

}  // namespace

void SmemQueries::clear() {
  codes_.clear();
  words_.clear();
  begins_.clear();
}

void SmemQueries::append(std::string_view letters) {
  begins_.push_back({codes_.size(), words_.size(), static_cast<std::uint32_t>(letters.size())});
  const std::size_t n = letters.size();
  codes_.resize(codes_.size() + n);
  words_.resize(words_.size() + n / 32 + 2);
  std::uint8_t* const codes = codes_.data() + begins_.back().code;
  std::uint64_t* const words = words_.data() + begins_.back().word;
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < n; ++i) {
    codes[i] = kCodes[static_cast<unsigned char>(letters[i])];
    word = word << 2 | (codes[i] & 3);
    if (i % 32 == 31) words[i / 32] = word;
  }
  if (n % 32 != 0) words[n / 32] = word << (64 - 2 * (n % 32));
}

SmemQueries::Query SmemQueries::operator[](std::size_t i) const {
  const Begin& begin = begins_[i];
  return {codes_.data() + begin.code, words_.data() + begin.word, begin.length};
}

void find_smems(const BwaFm& index, const BwaKmers& kmers, const SmemSettings& settings,
                const SmemQueries& queries, SmemMatches& found) {
  found.matches.clear();
  found.positions.clear();
  found.of_query.assign(queries.size(), {});
  if (index.has_all_bases()) {
    Search(index, kmers, settings, queries, found).run();
  } else {
    find_plainly(index, settings, queries, found);
  }
}

}  // namespace biogpu::bwt
