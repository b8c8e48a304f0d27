#include "lib/bwt/smem/smem.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numeric>
#include <tuple>

#include "lib/bwt/bwa/bwa_index.hpp"
#include "lib/bwt/smem/smem_search.hpp"
#include "lib/core/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/bwt/texts.hpp"

using namespace biogpu;

namespace {

// (begin, end, number of places, positions by row).
using Match = std::tuple<std::uint32_t, std::uint32_t, std::uint64_t, std::vector<std::uint64_t>>;

std::string reverse_complement(const std::string& letters) {
  std::string other(letters.rbegin(), letters.rend());
  for (char& c : other) c = "TGCA"[std::string_view("ACGT").find(c)];
  return other;
}

// An index of bwa in a folder that goes with it.
class Index {
 public:
  explicit Index(const std::string& genome)
      : text_(genome + reverse_complement(genome)), rows_(text_.size()) {
    std::iota(rows_.begin(), rows_.end(), std::uint64_t{0});
    std::sort(rows_.begin(), rows_.end(), [&](std::uint64_t a, std::uint64_t b) {
      return std::string_view(text_).substr(a) < std::string_view(text_).substr(b);
    });
    std::filesystem::create_directories(folder_);
    bwt::Reference reference;
    reference.contigs.push_back({"c", "", 0, genome.size(), 0});
    reference.text = pack(genome);
    BigArray<std::uint32_t> sa(rows_.size());
    for (std::size_t i = 0; i < rows_.size(); ++i) sa[i] = static_cast<std::uint32_t>(rows_[i]);
    for (io::OutputFile& file :
         bwt::write_bwa_index(prefix(), reference, bwt::make_bwa_bwt(pack(text_), sa, 1)))
      file.commit();
  }
  ~Index() { std::filesystem::remove_all(folder_); }

  std::string prefix() const { return (folder_ / "index").string(); }

  // All positions, by row.
  std::vector<std::uint64_t> places_of(std::string_view match) const {
    const auto begins_below = [&](std::uint64_t at, std::string_view s) {
      return std::string_view(text_).substr(at, s.size()) < s;
    };
    auto row = std::lower_bound(rows_.begin(), rows_.end(), match, begins_below);
    std::vector<std::uint64_t> places;
    while (row != rows_.end() && std::string_view(text_).substr(*row, match.size()) == match)
      places.push_back(*row++);
    return places;
  }

 private:
  static bwt::PackedText pack(const std::string& text) { return test::pack_bases(text); }

  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("biogpu_smem_" + std::to_string(::getpid()));
  const std::string text_;
  std::vector<std::uint64_t> rows_;
};

// Of any length, with all places: the longest match from each begin, where it ends behind all
// before it.
std::vector<Match> search_naively(const Index& index, const std::string& query) {
  std::vector<Match> matches;
  std::uint32_t end = 0;
  for (std::uint32_t begin = 0; begin < query.size(); ++begin) {
    std::uint32_t longest = begin;
    while (longest < query.size() &&
           !index.places_of(std::string_view(query).substr(begin, longest + 1 - begin)).empty())
      ++longest;
    if (longest <= end) continue;
    end = longest;
    const auto places = index.places_of(std::string_view(query).substr(begin, end - begin));
    matches.emplace_back(begin, end, places.size(), places);
  }
  return matches;
}

std::vector<Match> told(std::vector<Match> matches, const bwt::SmemSettings& settings) {
  std::erase_if(matches, [&](const Match& match) {
    return std::get<1>(match) - std::get<0>(match) < settings.min_length;
  });
  for (auto& [begin, end, n, places] : matches)
    if (n > settings.max_places) places.clear();
  return matches;
}

std::vector<std::vector<Match>> search(const bwt::BwaFm& index, const std::vector<std::string>& all,
                                       const bwt::SmemSettings& settings) {
  const bwt::BwaKmers kmers(index, 2);
  bwt::SmemQueries queries;
  for (const std::string& query : all) queries.append(query);
  bwt::SmemMatches found;
  bwt::find_smems(index, kmers, settings, queries, found);
  std::vector<std::vector<Match>> matches(all.size());
  for (std::size_t q = 0; q < all.size(); ++q) {
    const auto [first, n] = found.of_query[q];
    for (std::size_t m = first; m < first + n; ++m) {
      const bwt::SmemMatches::Match& match = found.matches[m];
      const auto place =
          found.positions.begin() + static_cast<std::ptrdiff_t>(match.first_position);
      const std::uint64_t n_told = match.n_places > settings.max_places ? 0 : match.n_places;
      matches[q].emplace_back(match.begin, match.end, match.n_places,
                              std::vector(place, place + static_cast<std::ptrdiff_t>(n_told)));
    }
  }
  return matches;
}

// Pieces of the text with changes, some of two pieces, and other letters.
std::vector<std::string> make_queries(const std::string& genome, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::string> queries = {"", "A", "N", "ACGT", "NNNNNNNNNNNNNNNNNNNN", genome};
  for (std::size_t length : {1u, 16u, 17u, 31u, 32u, 33u, 63u, 64u, 65u, 150u, 400u}) {
    for (int i = 0; i < 8; ++i) {
      std::string query;
      while (query.size() < length) {
        const std::string& strand = i % 2 == 0 ? genome : reverse_complement(genome);
        query += strand.substr(random() % strand.size(), 10 + random() % 120);
      }
      query.resize(length);
      for (std::size_t changes = random() % 4; changes-- > 0;)
        query[random() % length] = "ACGTN"[random() % 5];
      queries.push_back(query);
    }
  }
  return queries;
}

void check(const std::string& genome) {
  const Index index(genome);
  const std::vector<std::string> queries = make_queries(genome, genome.size());
  std::vector<std::vector<Match>> all;
  for (const std::string& query : queries) all.push_back(search_naively(index, query));
  for (const bool with_text : {true, false}) {
    if (!with_text) std::filesystem::remove(index.prefix() + ".pac");
    const bwt::BwaFm fm(index.prefix(), 2);
    for (const bwt::SmemSettings settings :
         {bwt::SmemSettings{1, 20}, bwt::SmemSettings{2, 0}, bwt::SmemSettings{5, 3},
          bwt::SmemSettings{17, 20}, bwt::SmemSettings{33, 1}, bwt::SmemSettings{100, 1000}}) {
      const auto found = search(fm, queries, settings);
      for (std::size_t q = 0; q < queries.size(); ++q) {
        INFO(queries[q] << ", at least " << settings.min_length << ", text " << with_text);
        REQUIRE(found[q] == told(all[q], settings));
      }
    }
  }
}

}  // namespace

TEST_CASE("super-maximal matches are those that a search of every place finds") {
  for (const std::size_t n : {20u, 63u, 64u, 65u, 127u, 128u, 129u, 700u, 2500u})
    check("ACGT" + test::random_text(n, n, "ACGT"));
  const std::string unit = test::random_text(3, 300, "ACGT");
  check(unit + "G" + unit + test::random_text(4, 200, "ACGT") + reverse_complement(unit) + unit);
  check("ACGT" + test::repeated("GATTACA", 900));
  check("ACGT" + test::repeated("A", 500));
}

TEST_CASE("the bases of both strands") {
  const std::string genome = test::random_text(9, 77, "ACGT");
  const Index index(genome);
  const bwt::BwaText text(index.prefix() + ".pac", genome.size(), 1);
  const std::string both = genome + reverse_complement(genome);
  const bwt::PackedText expected = test::pack_bases(both);
  REQUIRE(text.size() == both.size());
  for (std::uint64_t i = 0; i <= both.size(); ++i) {
    REQUIRE(text.word_at(i) == expected.word_at(i));
    const std::uint64_t before =
        i < 32 ? (i == 0 ? 0 : expected.word_at(0) >> (64 - 2 * i)) : expected.word_at(i - 32);
    REQUIRE(text.word_before(i) == before);
  }
}

TEST_CASE("positions and bases of two indexes are refused") {
  const std::string genome = test::random_text(10, 500, "ACGT");
  const Index index(genome);
  {
    std::fstream pac(index.prefix() + ".pac", std::ios::in | std::ios::out | std::ios::binary);
    pac.write(std::string(125, '\x1b').data(), 125);
  }
  const bwt::BwaFm fm(index.prefix(), 1);
  REQUIRE_THROWS_AS(search(fm, {genome.substr(100, 300)}, {17, 20}), Error);
}
