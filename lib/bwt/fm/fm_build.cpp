// Builds an FM-index in the layout of its file: the suffix array gives blocks, samples and starts
// in one parallel pass; the table follows from the blocks.
#include <fmt/format.h>

#include <array>
#include <cstring>
#include <limits>

#include "lib/bwt/fm/fm_index.hpp"
#include "lib/core/run_on_threads.hpp"

namespace biogpu::bwt {
namespace {

constexpr unsigned kSentinelSymbol = 4;  // what symbol_before() gives for a sentinel
constexpr std::uint64_t kBuiltTableK = 12;

using Counts = std::array<std::uint64_t, 4>;

// The stretches of the records between their holes.
std::vector<FmSegment> cut_segments(const Reference& reference) {
  std::vector<FmSegment> segments;
  std::uint64_t text_begin = 0;
  std::size_t hole = 0;
  const auto add = [&](std::uint64_t contig, std::uint64_t from, std::uint64_t to) {
    if (from >= to) return;
    segments.push_back({text_begin, to - from, contig, from});
    text_begin += to - from + 1;
  };
  for (std::uint64_t c = 0; c < reference.contigs.size(); ++c) {
    const Contig& contig = reference.contigs[c];
    std::uint64_t from = 0;
    for (std::uint32_t h = 0; h < contig.n_holes; ++h, ++hole) {
      const std::uint64_t hole_begin = reference.holes[hole].offset - contig.offset;
      add(c, from, hole_begin);
      from = hole_begin + reference.holes[hole].length;
    }
    add(c, from, contig.length);
  }
  return segments;
}

std::uint64_t choose_table_k(std::uint64_t n_rows) {
  std::uint64_t k = 1;
  while (k < kBuiltTableK && (std::uint64_t{1} << (2 * (k + 1))) <= n_rows / 4) ++k;
  return k;
}

}  // namespace

class FmBuilder {
 public:
  FmBuilder(const Reference& reference, const FmIndex::Settings& settings)
      : reference_(reference),
        settings_(settings),
        n_threads_(settings.sort.n_threads),
        segments_(cut_segments(reference)) {
    if (!segments_.empty()) n_rows_ = segments_.back().begin + segments_.back().length + 1;
  }

  FmIndex build(SuffixSortReport* report) {
    text_ = make_text();
    lay_out();
    if (n_rows_ < std::numeric_limits<std::uint32_t>::max()) {
      fill_from_suffixes<std::uint32_t>(report);
      fill_table<std::uint32_t>();
    } else {
      fill_from_suffixes<std::uint64_t>(report);
      fill_table<std::uint64_t>();
    }
    auto* const header = reinterpret_cast<FmHeader*>(index_.memory_.data());
    header->checksum = fm_checksum(index_.data(), index_.bytes(), n_threads_);
    return std::move(index_);
  }

 private:
  // Calls job(segment, text begin, text end) for pieces of segments within aligned ranges of text.
  template <class Job>
  void for_each_piece(const Job& job) const {
    run_ranges_on_threads(
        n_threads_, n_rows_,
        [&](std::size_t, std::uint64_t begin, std::uint64_t end) {
          auto segment = std::upper_bound(
              segments_.begin(), segments_.end(), begin,
              [](std::uint64_t at, const FmSegment& s) { return at < s.begin + s.length; });
          for (; segment != segments_.end() && segment->begin < end; ++segment)
            job(*segment, std::max(begin, segment->begin),
                std::min(end, segment->begin + segment->length));
        },
        64);
  }

  unsigned base_at(const FmSegment& segment, std::uint64_t position) const {
    const std::uint64_t in_contig = segment.contig_begin + position - segment.begin;
    return reference_.text[reference_.contigs[segment.contig].offset + in_contig];
  }

  PackedText make_text() const {
    PackedText text(n_rows_, 2);
    for_each_piece([&](const FmSegment& segment, std::uint64_t i, std::uint64_t end) {
      for (; i < end; ++i) text.set(i, base_at(segment, i));
    });
    return text;
  }

  // One segment is sorted as it is, several with their sentinels as symbols.
  template <class Index>
  BigArray<Index> sort(SuffixSortReport* report) const {
    if (segments_.size() == 1) {
      PackedText letters(n_rows_ - 1, 2);
      std::copy_n(text_.words(), letters.n_words(), letters.words());
      return sort_suffixes<Index>({letters}, settings_.sort, report);
    }
    PackedText symbols(n_rows_, 3);
    std::vector<std::uint64_t> ends;
    for (const FmSegment& segment : segments_) ends.push_back(segment.begin + segment.length);
    for_each_piece([&](const FmSegment&, std::uint64_t i, std::uint64_t end) {
      for (; i < end; ++i) symbols.set(i, text_[i] + 1);
    });
    return sort_suffixes<Index>({symbols, ends}, settings_.sort, report);
  }

  void lay_out() {
    const bool narrow = n_rows_ < std::numeric_limits<std::uint32_t>::max();
    std::string contigs;
    for (const Contig& contig : reference_.contigs)
      contigs += fmt::format("{}\t{}\n", contig.length, contig.name);
    FmHeader header{};
    std::memcpy(header.mark, kFmMark, sizeof header.mark);
    header.version = kFmVersion;
    header.row_bytes = narrow ? 4 : 8;
    header.n_rows = n_rows_;
    header.n_segments = segments_.size();
    header.n_contigs = reference_.contigs.size();
    header.n_bases = reference_.text.size();
    header.sample_rate = settings_.sample_rate;
    header.table_k = settings_.table_k != 0 ? settings_.table_k : choose_table_k(n_rows_);
    std::uint64_t sizes[n_fm_sections];
    sizes[fm_blocks] = (n_rows_ / kFmBlockRows + 1) * sizeof(FmBlock);
    sizes[fm_stretches] = ((n_rows_ >> kFmStretchShift) + 1) * sizeof(FmStretch);
    sizes[fm_table] = (std::uint64_t{2} << (2 * header.table_k)) * header.row_bytes;
    sizes[fm_samples] = (n_rows_ + header.sample_rate - 1) / header.sample_rate * header.row_bytes;
    sizes[fm_starts] = segments_.size() * sizeof(FmStart);
    sizes[fm_text] = (text_.n_words() + 2) * sizeof(std::uint64_t);
    sizes[fm_segments] = segments_.size() * sizeof(FmSegment);
    sizes[fm_contigs] = contigs.size();
    std::uint64_t offset = sizeof header;
    for (std::size_t s = 0; s < n_fm_sections; ++s) {
      offset = (offset + 63) / 64 * 64;
      header.section[s] = {offset, sizes[s]};
      offset += sizes[s];
    }
    header.file_bytes = offset;
    index_.memory_ = BigArray<std::uint8_t>(offset);
    std::uint8_t* const data = index_.memory_.data();
    // What lies between sections, and the table's k-mers that do not occur: the rest is written.
    std::memset(data, 0, header.section[0].offset);
    for (std::size_t s = 0; s < n_fm_sections; ++s) {
      const std::uint64_t end = header.section[s].offset + header.section[s].bytes;
      std::memset(data + end, 0,
                  (s + 1 < n_fm_sections ? header.section[s + 1].offset : offset) - end);
    }
    std::memset(data + header.section[fm_table].offset, 0, header.section[fm_table].bytes);
    if (n_rows_ == 0) std::memset(data + header.section[fm_blocks].offset, 0, sizeof(FmBlock));
    std::memset(data + header.section[fm_stretches].offset, 0, sizes[fm_stretches]);
    std::memcpy(data, &header, sizeof header);
    std::memcpy(section<char>(fm_contigs), contigs.data(), contigs.size());
    std::copy(segments_.begin(), segments_.end(), section<FmSegment>(fm_segments));
    std::copy_n(text_.words(), text_.n_words() + 2, section<std::uint64_t>(fm_text));
    index_.data_ = data;
    index_.attach();
    index_.parse_contigs("index");
  }

  template <class T>
  T* section(FmSection s) {
    const auto* const header = reinterpret_cast<const FmHeader*>(index_.memory_.data());
    return reinterpret_cast<T*>(index_.memory_.data() + header->section[s].offset);
  }

  template <class Index>
  void fill_from_suffixes(SuffixSortReport* report) {
    if (n_rows_ == 0) return;
    const BigArray<Index> sa = sort<Index>(report);
    const bool implied = segments_.size() == 1;  // row 0, the sentinel, is not in the array
    const auto position = [&](std::uint64_t row) -> std::uint64_t {
      if (!implied) return sa[row];
      return row == 0 ? n_rows_ - 1 : sa[row - 1];
    };
    const std::uint64_t n_blocks = n_rows_ / kFmBlockRows + 1;
    const std::uint64_t step = std::max<std::uint64_t>(128, n_blocks / 256);
    const std::uint64_t n_pieces = (n_blocks + step - 1) / step;
    std::vector<Counts> counts(n_pieces);
    std::vector<std::vector<FmStart>> starts(n_pieces);
    run_on_threads(n_threads_, n_pieces, [&](std::size_t, std::size_t k) {
      counts[k] =
          fill_blocks<Index>(k * step, std::min(n_blocks, (k + 1) * step), position, starts[k]);
    });
    auto* to = section<FmStart>(fm_starts);
    for (const auto& some : starts) to = std::copy(some.begin(), some.end(), to);
    add_counts(counts, step, n_blocks);
  }

  bool is_sentinel(std::uint64_t position) const {
    const auto segment = std::lower_bound(
        segments_.begin(), segments_.end(), position,
        [](const FmSegment& s, std::uint64_t at) { return s.begin + s.length < at; });
    return segment != segments_.end() && segment->begin + segment->length == position;
  }

  // Counts are those within the run of blocks. A sentinel looks like an A in the text, so only
  // these need a search for the segment.
  template <class Index, class Position>
  Counts fill_blocks(std::uint64_t begin, std::uint64_t end, const Position& position,
                     std::vector<FmStart>& starts) {
    constexpr std::uint64_t kAhead = 32;
    auto* const samples = section<Index>(fm_samples);
    auto* const blocks = section<FmBlock>(fm_blocks);
    Counts counts{};
    for (std::uint64_t b = begin; b < end; ++b) {
      FmBlock block{};
      for (std::size_t c = 0; c < 4; ++c) block.count[c] = static_cast<std::uint32_t>(counts[c]);
      const std::uint64_t last = std::min(n_rows_, (b + 1) * kFmBlockRows);
      for (std::uint64_t row = b * kFmBlockRows; row < last; ++row) {
        if (row + kAhead < last)
          text_.prefetch(std::max<std::uint64_t>(position(row + kAhead), 1) - 1);
        const std::uint64_t at = position(row);
        if (row % settings_.sample_rate == 0)
          samples[row / settings_.sample_rate] = static_cast<Index>(at);
        const unsigned symbol = symbol_before(at);
        if (symbol == kSentinelSymbol) {
          starts.push_back({row, at});
          continue;
        }
        ++counts[symbol];
        const std::uint64_t bit = std::uint64_t{1} << row % 64;
        const std::size_t word = row / 64 % 2;
        if (symbol & 1) block.low[word] |= bit;
        if (symbol & 2) block.high[word] |= bit;
        block.letter[word] |= bit;
      }
      blocks[b] = block;
    }
    return counts;
  }

  unsigned symbol_before(std::uint64_t position) const {
    if (position == 0) return kSentinelSymbol;
    const unsigned symbol = text_[position - 1];
    if (symbol == 0 && (segments_.size() > 1 && is_sentinel(position - 1))) return kSentinelSymbol;
    return symbol;
  }

  void add_counts(std::vector<Counts>& counts, std::uint64_t step, std::uint64_t n_blocks) {
    Counts total{};
    for (Counts& piece : counts)
      for (std::size_t c = 0; c < 4; ++c) total[c] += std::exchange(piece[c], total[c]);
    auto* const header = reinterpret_cast<FmHeader*>(index_.memory_.data());
    header->first_row[0] = segments_.size();
    for (std::size_t c = 0; c < 4; ++c) header->first_row[c + 1] = header->first_row[c] + total[c];
    auto* const blocks = section<FmBlock>(fm_blocks);
    auto* const stretches = section<FmStretch>(fm_stretches);
    constexpr std::uint64_t kStretchBlocks = (std::uint64_t{1} << kFmStretchShift) / kFmBlockRows;
    const auto absolute = [&](std::uint64_t b, std::size_t c) {
      return counts[b / step][c] + blocks[b].count[c];
    };
    for (std::uint64_t b = 0; b < n_blocks; b += kStretchBlocks)
      for (std::size_t c = 0; c < 4; ++c) stretches[b / kStretchBlocks].count[c] = absolute(b, c);
    run_on_threads(n_threads_, counts.size(), [&](std::size_t, std::size_t k) {
      for (std::uint64_t b = k * step; b < std::min(n_blocks, (k + 1) * step); ++b)
        for (std::size_t c = 0; c < 4; ++c)
          blocks[b].count[c] =
              static_cast<std::uint32_t>(absolute(b, c) - stretches[b / kStretchBlocks].count[c]);
    });
  }

  // The intervals of all k-mers by prepending one letter at a time. A job for each of the k-mers'
  // last three letters.
  template <class Index>
  void fill_table() {
    const std::uint64_t k = index_.header().table_k;
    const std::uint64_t n_jobs = k > 3 ? 64 : 1;
    run_on_threads(n_threads_, n_jobs, [&](std::size_t, std::size_t job) {
      FmIndex::Interval rows{0, n_rows_};
      std::uint64_t depth = 0;
      std::uint64_t suffix = 0;
      for (; n_jobs > 1 && depth < 3; ++depth) {
        const auto letter = static_cast<unsigned>(job >> (2 * depth) & 3);
        suffix |= static_cast<std::uint64_t>(letter) << (2 * depth);
        rows = extend(rows, letter);
      }
      fill_table<Index>(rows, suffix, depth, k);
    });
  }

  FmIndex::Interval extend(const FmIndex::Interval& rows, unsigned letter) const {
    const std::uint64_t first = index_.header().first_row[letter];
    return {first + index_.rank(letter, rows.begin), first + index_.rank(letter, rows.end)};
  }

  template <class Index>
  void fill_table(const FmIndex::Interval& rows, std::uint64_t suffix, std::uint64_t depth,
                  std::uint64_t k) {
    if (rows.begin >= rows.end) return;  // the table is zero
    if (depth == k) {
      Index* const entry = section<Index>(fm_table) + 2 * suffix;
      entry[0] = static_cast<Index>(rows.begin);
      entry[1] = static_cast<Index>(rows.end);
      return;
    }
    for (unsigned letter = 0; letter < 4; ++letter)
      fill_table<Index>(extend(rows, letter),
                        suffix | static_cast<std::uint64_t>(letter) << (2 * depth), depth + 1, k);
  }

  const Reference& reference_;
  const FmIndex::Settings& settings_;
  const int n_threads_;
  std::vector<FmSegment> segments_;
  std::uint64_t n_rows_ = 0;
  PackedText text_;
  FmIndex index_;
};

FmIndex FmIndex::build(const Reference& reference, const Settings& settings,
                       SuffixSortReport* report) {
  return FmBuilder(reference, settings).build(report);
}

}  // namespace biogpu::bwt
