#include "lib/bwt/smem/smem.hpp"

#include <algorithm>

namespace biogpu::bwt {

void SmemFinder::find(std::span<const std::uint8_t> query, std::vector<Smem>& found) {
  const auto n = static_cast<std::uint32_t>(query.size());
  for (std::uint32_t at = 0; at < n;) {
    if (query[at] > 3) {
      ++at;
    } else {
      at = find_around(query, at, found);
    }
  }
}

// Appends the matches that contain query[at]; returns the end of the longest that begins there.
std::uint32_t SmemFinder::find_around(std::span<const std::uint8_t> query, std::uint32_t at,
                                      std::vector<Smem>& found) {
  const auto n = static_cast<std::uint32_t>(query.size());
  // To the right: one entry for each end at which some occurrences stop matching.
  longer_.clear();
  Smem match{at, at + 1, index_.rows_of(query[at])};
  for (; match.end < n && query[match.end] <= 3; ++match.end) {
    const BwaFm::Rows next = index_.extend_right(match.rows, query[match.end]);
    // A base that the text does not have begins with no rows and goes on with none, as in bwa.
    if (next.size != match.rows.size) {
      longer_.push_back(match);
      if (next.size == 0) break;
    }
    match.rows = next;
  }
  if (longer_.empty() || longer_.back().end != match.end) longer_.push_back(match);
  std::reverse(longer_.begin(), longer_.end());
  const std::uint32_t longest_end = longer_.front().end;
  // To the left, the longest first: a match is maximal where it stops and no longer one goes on.
  const std::size_t first = found.size();
  for (std::uint32_t begin = at;; --begin) {
    const bool blocked = begin == 0 || query[begin - 1] > 3;
    current_.clear();
    for (const Smem& candidate : longer_) {
      BwaFm::Rows next;
      if (!blocked) next = index_.extend_left(candidate.rows, query[begin - 1]);
      if (next.size == 0) {
        if (current_.empty() && (found.size() == first || begin < found.back().begin))
          found.push_back({begin, candidate.end, candidate.rows});
      } else if (current_.empty() || next.size != current_.back().rows.size) {
        current_.push_back({begin - 1, candidate.end, next});
      }
    }
    if (current_.empty()) break;
    std::swap(longer_, current_);
  }
  std::reverse(found.begin() + static_cast<std::ptrdiff_t>(first), found.end());
  return longest_end;
}

}  // namespace biogpu::bwt
