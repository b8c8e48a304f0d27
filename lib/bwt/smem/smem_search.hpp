#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "lib/bwt/bwa/bwa_fm.hpp"
#include "lib/bwt/bwa/bwa_kmers.hpp"

namespace biogpu::bwt {

// Queries of a batch, in a byte and in 2 bits a base. Keeps its memory.
class SmemQueries {
 public:
  struct Query {
    const std::uint8_t* codes;   // A 0, C 1, G 2, T 3; larger values match nothing
    const std::uint64_t* words;  // as in PackedText, one more than the bases need
    std::uint32_t length;
  };

  void clear();
  // Letters other than A, C, G and T, of either case, match nothing.
  void append(std::string_view letters);
  std::size_t size() const { return begins_.size(); }
  Query operator[](std::size_t i) const;

 private:
  struct Begin {
    std::size_t code;
    std::size_t word;
    std::uint32_t length;
  };
  std::vector<std::uint8_t> codes_;
  std::vector<std::uint64_t> words_;
  std::vector<Begin> begins_;
};

// The matches of a batch of queries.
struct SmemMatches {
  struct Match {
    std::uint32_t begin = 0;  // in the query
    std::uint32_t end = 0;
    std::uint64_t n_places = 0;
    std::uint64_t first_position = 0;  // of its positions, where they were wanted
  };
  struct Range {
    std::size_t first = 0;
    std::size_t n = 0;
  };
  std::vector<Match> matches;
  std::vector<std::uint64_t> positions;  // in the text of both strands, by row
  std::vector<Range> of_query;
};

struct SmemSettings {
  std::uint32_t min_length = 1;
  std::uint64_t max_places = 0;  // matches with more have no positions
};

// Finds the super-maximal exact matches of at least min_length bases, in the order of
// SmemFinder, of all queries side by side. Any number of threads may call.
//
// A match of min_length bases ends at or behind the end of a window of that length, so each window
// is matched from its end to its begin: where that fails, no match begins before the place. Rows
// that are few are compared with the text itself.
//
// Source  Gagie: How to find long maximal exact matches and ignore short ones.
//         doi:10.1007/978-3-031-66159-4_10
void find_smems(const BwaFm& index, const BwaKmers& kmers, const SmemSettings& settings,
                const SmemQueries& queries, SmemMatches& found);

}  // namespace biogpu::bwt
