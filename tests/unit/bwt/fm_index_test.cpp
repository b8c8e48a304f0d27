#include "lib/bwt/fm/fm_index.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <tuple>

#include "lib/bwt/fm/fm_search.hpp"
#include "lib/core/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/bwt/texts.hpp"

using namespace biogpu;

namespace {

using Genome = std::vector<std::string>;

// A file that goes with the test.
struct TemporaryFile {
  explicit TemporaryFile(const std::string& content)
      : path(std::filesystem::temp_directory_path() /
             ("biogpu_bwt_" + std::to_string(::getpid()) + ".fa")) {
    std::ofstream(path) << content;
  }
  ~TemporaryFile() { std::filesystem::remove(path); }
  const std::string path;
};

bwt::Reference reference_of(const Genome& genome) {
  std::string fasta;
  for (std::size_t i = 0; i < genome.size(); ++i)
    fasta += ">c" + std::to_string(i) + "\n" + genome[i] + "\n";
  const TemporaryFile file(fasta);
  return bwt::read_reference(file.path, 1);
}

bwt::FmIndex index_of(const Genome& genome, std::uint64_t sample_rate, std::uint64_t table_k,
                      int n_threads = 1) {
  bwt::FmIndex::Settings settings;
  settings.sample_rate = sample_rate;
  settings.table_k = table_k;
  settings.sort.n_threads = n_threads;
  return bwt::FmIndex::build(reference_of(genome), settings);
}

std::string reverse_complement(std::string letters) {
  std::reverse(letters.begin(), letters.end());
  for (char& c : letters) {
    const auto at = std::string_view("ACGT").find(c);
    if (at != std::string_view::npos) c = "TGCA"[at];
  }
  return letters;
}

bool is_base(char c) { return std::string_view("ACGT").find(c) != std::string_view::npos; }

// (contig, begin, mismatches) of every place, by looking at each.
std::vector<std::tuple<std::uint64_t, std::uint64_t, std::uint32_t>> search_naively(
    const Genome& genome, const std::string& pattern, std::uint32_t k) {
  std::vector<std::tuple<std::uint64_t, std::uint64_t, std::uint32_t>> places;
  for (std::size_t c = 0; c < genome.size() && !pattern.empty(); ++c) {
    for (std::size_t at = 0; at + pattern.size() <= genome[c].size(); ++at) {
      std::uint32_t n = 0;
      bool whole = true;
      for (std::size_t i = 0; i < pattern.size(); ++i) {
        whole = whole && is_base(genome[c][at + i]);
        n += genome[c][at + i] != pattern[i] ? 1 : 0;
      }
      if (whole && n <= k) places.emplace_back(c, at, n);
    }
  }
  return places;
}

// Patterns of all lengths: from the genome, changed, with other letters, and random.
std::vector<std::string> make_patterns(const Genome& genome, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::string> patterns = {"", "A", "C", "N", "ACGT", std::string(5, 'A'), "GATTACA"};
  for (const std::string& contig : genome) {
    for (int i = 0; i < 12 && !contig.empty(); ++i) {
      const std::size_t at = random() % contig.size();
      std::string pattern = contig.substr(at, 1 + random() % 120);
      if (i % 3 == 1) pattern[random() % pattern.size()] = "ACGTN"[random() % 5];
      if (i % 4 == 2) pattern = reverse_complement(pattern);
      patterns.push_back(pattern);
    }
  }
  for (const std::size_t n : {1, 2, 3, 11, 12, 13, 31, 32, 33, 64, 65})
    patterns.push_back(test::random_text(seed + n, n, "ACGT"));
  return patterns;
}

void check_searches(const Genome& genome, const bwt::FmIndex& index, std::uint64_t seed) {
  const std::vector<std::string> letters = make_patterns(genome, seed);
  bwt::PatternSet patterns;
  for (const std::string& pattern : letters) patterns.append(pattern);
  std::vector<bwt::Probe> probes;
  for (std::uint32_t p = 0; p < patterns.size(); ++p) probes.push_back({p, 0, patterns[p].length});
  std::vector<std::uint64_t> counts(probes.size());
  bwt::CpuSearch search(index);
  search.count(patterns, probes, counts);
  for (std::size_t p = 0; p < counts.size(); ++p) {
    const std::string& query = letters[p / 2];
    const std::string pattern = p % 2 == 0 ? query : reverse_complement(query);
    INFO("pattern '" << pattern << "'");
    CHECK(counts[p] == search_naively(genome, pattern, 0).size());
  }
  for (std::uint32_t k = 0; k <= 3; ++k) {
    std::vector<bwt::Hit> hits;
    bwt::locate_patterns(index, search, patterns, 0, patterns.size(), k, hits);
    std::size_t next = 0;
    for (std::size_t p = 0; p < patterns.size(); ++p) {
      const std::string& query = letters[p / 2];
      std::vector<std::tuple<std::uint64_t, std::uint64_t, std::uint32_t>> places;
      for (; next < hits.size() && hits[next].pattern == p; ++next)
        places.emplace_back(hits[next].contig, hits[next].begin, hits[next].n_mismatches);
      INFO("query '" << query << "', strand " << p % 2 << ", k " << k);
      CHECK(places == search_naively(genome, p % 2 == 0 ? query : reverse_complement(query), k));
    }
    CHECK(next == hits.size());
  }
}

Genome mixed_genome(std::uint64_t seed) {
  const std::string a = test::random_text(seed, 700, "ACGT");
  return {a + "NNNNNN" + a.substr(100, 250) + "R" + reverse_complement(a).substr(0, 333),
          "",
          "NNNN",
          test::repeated("ACG", 200) + "N" + std::string(90, 'A'),
          test::random_text(seed + 1, 300, "AT"),
          a.substr(0, 130)};
}

}  // namespace

TEST_CASE("bwt.fm_index: counts and places equal a naive search", "[bwt]") {
  const std::vector<Genome> genomes = {{test::random_text(1, 900, "ACGT")},
                                       mixed_genome(2),
                                       {"A"},
                                       {"ACGT", "ACGT"},
                                       {std::string(300, 'A')},
                                       {test::fibonacci_text(700)}};
  for (std::size_t g = 0; g < genomes.size(); ++g) {
    for (const auto& [sample_rate, table_k] :
         std::vector<std::pair<std::uint64_t, std::uint64_t>>{{1, 1}, {4, 0}, {8, 4}, {64, 5}}) {
      INFO("genome " << g << ", sample rate " << sample_rate << ", table " << table_k);
      check_searches(genomes[g], index_of(genomes[g], sample_rate, table_k), g);
    }
  }
}

TEST_CASE("bwt.fm_index: a block's counts at every offset are those bit by bit", "[bwt]") {
  std::mt19937_64 random(9);
  bwt::FmBlock block{};
  for (int w = 0; w < 2; ++w) {
    block.low[w] = random();
    block.high[w] = random();
    block.letter[w] = random() | random();
  }
  for (unsigned letter = 0; letter < 4; ++letter) {
    std::uint64_t expected = 0;
    for (std::uint64_t offset = 0; offset < bwt::kFmBlockRows; ++offset) {
      CAPTURE(letter, offset);
      CHECK(bwt::count_in_block(block, letter, offset) == expected);
      const auto bit = [&](const std::uint64_t* plane) {
        return static_cast<unsigned>(plane[offset / 64] >> offset % 64 & 1);
      };
      const bool is_letter = bit(block.letter) != 0;
      expected += is_letter && (bit(block.high) << 1 | bit(block.low)) == letter ? 1 : 0;
    }
  }
}

TEST_CASE("bwt.fm_index: a row adds at most one letter to the ranks, across blocks too", "[bwt]") {
  const std::string letters = test::random_text(4, 1000, "ACGT");
  const bwt::FmIndex index = index_of({letters}, 8, 0);
  const std::uint64_t n_rows = index.header().n_rows;
  std::uint64_t n_sentinels = 0;
  for (std::uint64_t row = 0; row < n_rows; ++row) {
    std::uint64_t n_added = 0;
    for (unsigned letter = 0; letter < 4; ++letter)
      n_added += index.rank(letter, row + 1) - index.rank(letter, row);
    CAPTURE(row);
    CHECK(n_added <= 1);
    n_sentinels += n_added == 0;
  }
  CHECK(n_sentinels == n_rows - letters.size());
}

TEST_CASE("bwt.fm_index: a genome without any base answers nothing", "[bwt]") {
  for (const Genome& genome : {Genome{}, Genome{""}, Genome{"NNN", ""}}) {
    const bwt::FmIndex index = index_of(genome, 8, 0);
    CHECK(index.header().n_rows == 0);
    check_searches(genome, index, 1);
  }
}

TEST_CASE("bwt.fm_index: the bytes do not depend on the number of threads", "[bwt]") {
  Genome genome = mixed_genome(7);
  genome.push_back(test::random_text(8, 120000, "ACGT"));
  const bwt::FmIndex one = index_of(genome, 8, 0, 1);
  const bwt::FmIndex four = index_of(genome, 8, 0, 4);
  REQUIRE(one.bytes() == four.bytes());
  CHECK(std::equal(one.data(), one.data() + one.bytes(), four.data()));
}

TEST_CASE("bwt.fm_index: a file is read back, and a damaged one refused", "[bwt]") {
  const Genome genome = mixed_genome(3);
  const bwt::FmIndex built = index_of(genome, 4, 3);
  const std::string path =
      std::filesystem::temp_directory_path() / ("biogpu_fm_" + std::to_string(::getpid()));
  built.write(path).commit();
  {
    const bwt::FmIndex read = bwt::FmIndex::open(path, 2);
    CHECK(read.bytes() == built.bytes());
    check_searches(genome, read, 5);
    REQUIRE(read.contigs().size() == genome.size());
    CHECK(read.contigs()[3].name == "c3");
    for (std::size_t c = 0; c < genome.size(); ++c) {
      std::string expected = genome[c];
      for (char& letter : expected) letter = is_base(letter) ? letter : 'N';
      CHECK(read.extract(c, 0, genome[c].size()) == expected);
      if (genome[c].size() > 20)
        CHECK(read.extract(c, 7, genome[c].size() - 5) ==
              expected.substr(7, genome[c].size() - 12));
    }
  }
  {
    // Any byte that is another one.
    std::string bytes(reinterpret_cast<const char*>(built.data()), built.bytes());
    for (std::size_t i = 0; i < bytes.size(); i += i < 1024 ? 1 : 97) {
      bytes[i] = static_cast<char>(bytes[i] ^ 0x10);
      std::ofstream(path, std::ios::binary) << bytes;
      INFO("byte " << i);
      CHECK_THROWS_AS(bwt::FmIndex::open(path, 2), Error);
      bytes[i] = static_cast<char>(bytes[i] ^ 0x10);
    }
  }
  std::filesystem::resize_file(path, built.bytes() - 1);
  CHECK_THROWS_AS(bwt::FmIndex::open(path, 2), Error);
  std::filesystem::resize_file(path, 10);
  CHECK_THROWS_AS(bwt::FmIndex::open(path, 2), Error);
  std::ofstream(path) << std::string(5000, 'x');
  CHECK_THROWS_AS(bwt::FmIndex::open(path, 2), Error);
  std::filesystem::remove(path);
  CHECK_THROWS_AS(bwt::FmIndex::open(path, 2), Error);
}
