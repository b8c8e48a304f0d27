#include <optional>

#include "lib/core/error.hpp"
#include "lib/kmer/combine.hpp"
#include "lib/kmer/database/lookup.hpp"
#include "lib/kmer/sequences/sequence_keys.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/kmer/files.hpp"

using namespace biogpu;
using kmer::Format;

TEST_CASE("kmer.reader: reads what was written, in every format", "[kmer]") {
  const auto sequences = test::tricky_sequences(5, 3000);
  for (const int k : {1, 4, 21, 32, 33, 65, 100, 200}) {
    test::NaiveCounts expected;
    for (const std::string& s : sequences) test::count_naively(s, k, true, expected);
    for (const Format format :
         {Format::jellyfish, Format::jellyfish_text, Format::bgk, Format::kff}) {
      CAPTURE(k, static_cast<int>(format));
      test::TemporaryFile file;
      test::write_database(file, test::header_for(k, 1000, true, format), sequences);
      CHECK(test::read_database(file.path()) == expected);
      for (const bool canonical : {true, false}) {
        test::write_database(file, test::header_for(k, 1000, canonical, format), sequences);
        const kmer::Header header = kmer::DatabaseReader(file.path()).header();
        CHECK(header.k == k);
        CHECK(header.canonical == canonical);
        CHECK(header.format == format);
      }
    }
  }
}

TEST_CASE("kmer.reader: refuses what is damaged or cut", "[kmer]") {
  for (const Format format : {Format::jellyfish, Format::bgk, Format::kff}) {
    CAPTURE(static_cast<int>(format));
    test::TemporaryFile file;
    test::write_database(file, test::header_for(21, 100, true, format),
                         test::tricky_sequences(6, 500));
    const std::string whole = file.read();
    for (const std::size_t n :
         {std::size_t{0}, std::size_t{2}, std::size_t{20}, whole.size() / 2, whole.size() - 3}) {
      file.write(whole.substr(0, n));
      CHECK_THROWS_AS(test::read_database(file.path()), Error);
      CHECK_THROWS_AS(kmer::Lookup::open(file.path()), Error);
    }
  }
}

TEST_CASE("kmer.lookup: finds what is there and nothing else", "[kmer]") {
  const auto sequences = test::tricky_sequences(7, 20000);
  std::mt19937 rng(1);
  const std::string text = sequences[4].substr(0, 5000) + test::random_letters(rng, 3000, "ACGT");
  for (const int k : {2, 15, 21, 32, 40, 65}) {
    test::NaiveCounts expected;
    for (const std::string& s : sequences) test::count_naively(s, k, false, expected);
    std::vector<std::uint64_t> keys;
    kmer::append_keys(text, k, false, keys);
    std::vector<std::uint64_t> wanted;
    for (std::size_t i = 0; i + static_cast<std::size_t>(k) <= text.size(); ++i) {
      const auto at = expected.find(text.substr(i, static_cast<std::size_t>(k)));
      wanted.push_back(at == expected.end() ? 0 : at->second);
    }
    for (const std::uint64_t size : {std::uint64_t{100}, std::uint64_t{1} << 40})
      for (const Format format : {Format::jellyfish, Format::bgk}) {
        CAPTURE(k, size, static_cast<int>(format));
        test::TemporaryFile file;
        test::write_database(file, test::header_for(k, size, false, format), sequences);
        std::vector<std::uint64_t> counts(wanted.size());
        kmer::Lookup::open(file.path())->find(keys.data(), counts);
        CHECK(counts == wanted);
        // Few look-ups in a large database go another way.
        const auto database = kmer::Lookup::open(file.path());
        const auto n_words = static_cast<std::size_t>(kmer::words_for(k));
        for (std::size_t i = 0; i < wanted.size(); i += 37) {
          database->find(keys.data() + i * n_words, std::span(counts).subspan(i, 1));
          CHECK(counts[i] == wanted[i]);
        }
      }
  }
}

TEST_CASE("kmer.combine: adds files of any order and format", "[kmer]") {
  const auto first = test::tricky_sequences(8, 2000);
  const auto second = test::tricky_sequences(9, 2000);
  for (const int k : {5, 21, 50}) {
    test::NaiveCounts expected;
    for (const auto& sequences : {first, second})
      for (const std::string& s : sequences) test::count_naively(s, k, true, expected);
    test::TemporaryFile a;
    test::write_database(a, test::header_for(k, 1000, true), first);
    for (const Format format : {Format::jellyfish, Format::bgk, Format::kff}) {
      CAPTURE(k, static_cast<int>(format));
      test::TemporaryFile b;
      test::write_database(b, test::header_for(k, 50000, true, format), second);
      kmer::Combiner combiner({a.path(), b.path()}, {}, {});
      test::NaiveCounts got;
      const auto sum = [](const kmer::Combiner::Counts& of) -> std::optional<std::uint64_t> {
        return of.counts[0] + of.counts[1];
      };
      for (kmer::CountBlock block; combiner.read(block, sum);)
        for (std::size_t i = 0; i < block.size(); ++i) {
          std::string letters;
          kmer::append_letters(block.key(i), k, letters);
          got[letters] += block.counts[i];
        }
      CHECK(got == expected);
    }
    test::TemporaryFile plain;
    test::write_database(plain, test::header_for(k, 1000, false), first);
    CHECK_THROWS_AS(kmer::Combiner({a.path(), plain.path()}, {}, {}), Error);
  }
}
