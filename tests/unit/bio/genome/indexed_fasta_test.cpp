#include "lib/bio/genome/indexed_fasta.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <random>
#include <thread>

#include "tests/support/catch.hpp"
#include "tests/unit/bio/genome/error_text.hpp"
#include "tests/unit/io/files.hpp"

using namespace biogpu;
using genome::IndexedFasta;
using test::error_text;

namespace {

std::string letters_of(const IndexedFasta& fasta, std::size_t contig, std::int64_t begin,
                       std::size_t n) {
  std::vector<genome::LetterCode> codes(n, 77);
  fasta.fetch(contig, begin, codes);
  return genome::decode_letters(codes);
}

std::string random_letters(unsigned seed, std::size_t n) {
  std::mt19937 random(seed);
  std::string text(n, 'N');
  for (char& c : text) c = "ACGTN"[random() % 5];
  return text;
}

// What a fetch must give.
std::string padded(const std::string& sequence, std::int64_t begin, std::size_t n) {
  std::string text(n, 'N');
  for (std::size_t i = 0; i < n; ++i) {
    const std::int64_t at = begin + static_cast<std::int64_t>(i);
    if (at >= 0 && at < std::ssize(sequence)) text[i] = sequence[static_cast<std::size_t>(at)];
  }
  return text;
}

}  // namespace

TEST_CASE("genome.indexed_fasta: a byte order mark in front", "[genome]") {
  const test::TempFolder folder;
  const std::string text = "\xef\xbb\xbf>one\nACGTTG\nCANNA\n>two\nTTGAC\n";
  for (const bool compressed : {false, true}) {
    const std::string path =
        folder.file(compressed ? "g.fa.gz" : "g.fa", compressed ? test::bgzf(folder, text) : text);
    for (int i = 0; i < 2; ++i) {  // makes the index, then reads it
      const IndexedFasta fasta(path);
      CHECK(letters_of(fasta, 0, 4, 7) == "TGCANNA");
      CHECK(letters_of(fasta, 1, 0, 5) == "TTGAC");
    }
    CHECK(test::read_file(path + ".fai") == "one\t11\t8\t6\t7\ntwo\t5\t26\t5\t6\n");
  }
  const std::string path = folder.file("w.fa", std::string("\xff\xfe>\0a\0\n\0A\0", 10));
  CHECK(error_text([&] { IndexedFasta{path}; }).find("byte order mark of UTF-16") !=
        std::string::npos);
}

TEST_CASE("genome.indexed_fasta: windows of plain and bgzip files, threads", "[genome]") {
  const test::TempFolder folder;
  const std::vector<std::string> sequences = {random_letters(1, 200'003), random_letters(2, 60),
                                              random_letters(3, 1)};
  std::vector<test::Read> records;
  for (std::size_t i = 0; i < sequences.size(); ++i)
    records.push_back({"chr" + std::to_string(i + 1), "a comment", sequences[i], ""});
  for (const bool compressed : {false, true})
    for (const char* newline : {"\n", "\r\n"}) {
      const std::string text = test::fasta(records, 60, newline);
      const std::string name = compressed ? "g.fa.gz" : "g.fa";
      const std::string path = folder.file(name, compressed ? test::bgzf(folder, text) : text);
      for (const char* suffix : {".fai", ".gzi"}) std::filesystem::remove(path + suffix);
      const IndexedFasta fasta(path);
      REQUIRE(fasta.contigs().size() == 3);
      CHECK(fasta.contigs()[0].length == sequences[0].size());
      CHECK(fasta.find("chr2") == std::optional<std::size_t>(1));
      CHECK_FALSE(fasta.find("2").has_value());
      std::atomic<int> n_wrong{0};
      std::vector<std::jthread> threads;
      for (unsigned t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
          std::mt19937 random(t);
          for (int i = 0; i < 100; ++i) {
            const std::size_t contig = random() % 3;
            const auto length = static_cast<std::int64_t>(sequences[contig].size());
            const std::int64_t begin = static_cast<std::int64_t>(random() % 400) - 200 +
                                       (random() % 2 == 0 ? 0 : length - 100);
            const std::size_t n = random() % 500;
            if (letters_of(fasta, contig, begin, n) != padded(sequences[contig], begin, n))
              ++n_wrong;
          }
        });
      threads.clear();
      CHECK(n_wrong == 0);
      CHECK(letters_of(fasta, 0, -70'000, 300'000) == padded(sequences[0], -70'000, 300'000));
      CHECK(letters_of(fasta, 1, 60, 3) == "NNN");
      CHECK(letters_of(fasta, 1, INT64_MIN / 2, 3) == "NNN");
      CHECK(letters_of(fasta, 1, INT64_MAX / 2, 3) == "NNN");
    }
  CHECK(folder.names() ==
        std::vector<std::string>{"g.fa", "g.fa.fai", "g.fa.gz", "g.fa.gz.fai", "g.fa.gz.gzi"});
}

TEST_CASE("genome.indexed_fasta: an index that may not be written", "[genome]") {
  const test::TempFolder folder;
  const std::string path = folder.file("g.fa", ">a\nACGT\n");
  CHECK(error_text([&] { IndexedFasta(path, genome::MissingIndex::refuse); }) ==
        "1 " + path + ": has no index " + path + ".fai; run samtools faidx");
  CHECK(folder.names() == std::vector<std::string>{"g.fa"});
  std::filesystem::create_directory(folder.path("locked"));
  const std::string locked = folder.file("locked/g.fa", ">a\nACGT\n");
  chmod(folder.path("locked").c_str(), 0555);
  // In memory.
  CHECK(letters_of(IndexedFasta(locked), 0, 1, 4) == "CGTN");
  chmod(folder.path("locked").c_str(), 0755);
  // One that is there is left alone, and used.
  folder.file("g.fa", ">a\nACGT\n>b\nTT\n");
  folder.file("g.fa.fai", "b\t2\t11\t2\t3\n");
  CHECK(IndexedFasta(path).contigs()[0].name == "b");
  CHECK(letters_of(IndexedFasta(path), 0, 0, 3) == "TTN");
}

TEST_CASE("genome.indexed_fasta: files that cannot have an index", "[genome]") {
  const test::TempFolder folder;
  const auto error_of_text = [&](const std::string& text) {
    const std::string path = folder.file("bad.fa", text);
    const std::string error = error_text([&] { IndexedFasta{path}; });
    CHECK(folder.names() == std::vector<std::string>{"bad.fa"});
    return error;
  };
  CHECK_THAT(error_of_text(">a\nAC\nACG\n"),
             ContainsSubstring("bad.fa: record 1 ('a', line 3): 3 letters, the first line has 2"));
  CHECK_THAT(error_of_text(">a\nACG\nAC\nACG\n>b\nA\n"),
             ContainsSubstring("record 1 ('a', line 4)"));
  CHECK_THAT(error_of_text(">a\nACG\n\nACG\n"), ContainsSubstring("line 4)"));
  CHECK_THAT(error_of_text(">a x\nACG\n>a y\nACG\n"),
             ContainsSubstring("record 2 ('a', line 3): has the"));
  CHECK_THAT(error_of_text(">a\nACG\n> y\nACG\n"),
             ContainsSubstring("record 2 (line 3): has no name"));
  CHECK_THAT(error_of_text("@a\nACG\n+\nIII\n"), ContainsSubstring("does not begin with '>'"));
  CHECK_THAT(error_of_text(""), ContainsSubstring("does not begin with '>'"));
  CHECK_THAT(error_of_text(test::gzip(">a\nACG\n")),
             ContainsSubstring("compressed by gzip, which"));
  CHECK_THAT(error_of_text("\x28\xb5\x2f\xfd zstd"), ContainsSubstring("bad.fa: "));
  CHECK(error_text([] { IndexedFasta{"-"}; }).starts_with("2 "));
  CHECK(error_text([] { IndexedFasta{"/nonexistent/x.fa"}; }).starts_with("1 /nonexistent/x.fa"));
}

TEST_CASE("genome.indexed_fasta: an index of other numbers is refused", "[genome]") {
  const test::TempFolder folder;
  const std::string path = folder.file("g.fa", ">a\nACGT\nAC\n>b\nTT\n");
  const auto error_of_index = [&](const std::string& line) {
    folder.file("g.fa.fai", line + "\n");
    return error_text([&] { IndexedFasta{path}; });
  };
  CHECK(error_of_index("a\t6\t3\t4\t5") == "no error");
  CHECK_THAT(error_of_index("a\t6\t3\t4\t5\t9"), ContainsSubstring("g.fa.fai: line 1: malformed"));
  for (const char* line : {"a\t6\t3\t4", "\t6\t3\t4\t5", "a\t-6\t3\t4\t5", "a\t6\tx\t4\t5",
                           "a\t99999999999999999999\t3\t4\t5", "a\t9223372036854775807\t3\t4\t5"})
    CHECK_THAT(error_of_index(line), ContainsSubstring("line 1: malformed"));
  for (const char* line : {"a\t6\t3\t0\t5", "a\t6\t3\t4\t3", "a\t40\t3\t4\t5", "a\t6\t300\t4\t5",
                           "a\t6\t3\t4\t4000", "a\t4000000000000000000\t3\t1\t1"})
    CHECK_THAT(error_of_index(line), ContainsSubstring("line 1: 'a' does not fit"));
}

TEST_CASE("genome.indexed_fasta: an index of an earlier file is told", "[genome]") {
  const test::TempFolder folder;
  const std::string before = ">a x\nACGTAC\nGTACGT\nAC\n>b\nTTTTTT\nTT\n";
  for (const bool compressed : {false, true}) {
    const std::string name = compressed ? "g.fa.gz" : "g.fa";
    const auto make = [&](const std::string& text) {
      return folder.file(name, compressed ? test::bgzf(folder, text) : text);
    };
    const std::string path = make(before);
    { const IndexedFasta whole(path); }
    // Other lengths of lines, a letter more or fewer, another name, sequences in another order.
    for (const char* const after :
         {">a x\nACGTA\nCGTACG\nTAC\n>b\nTTTTTT\nTT\n",
          ">a x\nACGTACG\nTACGTA\nC\n>b\nTTTTTT\nTT\n",
          ">a x\nACGTAC\nGTACGT\nACG\n>b\nTTTTTT\nTT\n",
          ">a x\nACGTAC\nGTACGT\nA\n\n>b\nTTTTTT\nTT\n",
          ">ab\nACGTAC\nGTACGT\nAC\n>b\nTTTTTT\nTT\n", ">c x\nACGTAC\nGTACGT\nAC\n>b\nTTTTTT\nTT\n",
          ">a xy\nACGTAC\nGTACGT\nAC\n>b\nTTTTTT\n"}) {
      make(after);
      CHECK_THAT(error_text([&] { letters_of(IndexedFasta(path), 0, 2, 3); }),
                 ContainsSubstring("3 " + path + ".fai: ") &&
                     ContainsSubstring("remove the index, which may be that of an earlier file"));
    }
    make(before);
    CHECK(letters_of(IndexedFasta(path), 0, 2, 3) == "GTA");
    CHECK(letters_of(IndexedFasta(path), 1, 2, 3) == "TTT");
  }
}

TEST_CASE("genome.indexed_fasta: the index is that of samtools", "[genome]") {
  const test::TempFolder folder;
  const std::string text =
      ">a d\nACGT\nAC\n>none\n>b\tx\nACG\nTAC\nG\n\n>c\r\nAC  \r\nTT  \r\nA\r\n>last\nACGTA";
  const std::string path = folder.file("g.fa", text);
  { const IndexedFasta made(path); }
  CHECK(test::read_file(path + ".fai") ==
        "a\t6\t5\t4\t5\nb\t7\t24\t3\t4\nc\t5\t39\t2\t6\nlast\t5\t60\t5\t6\n");
  const std::string large = ">a\n" + random_letters(7, 300'000) + "\n";
  const std::string packed = test::bgzf(folder, large);
  const std::string compressed = folder.file("l.fa.gz", packed);
  { const IndexedFasta made(compressed); }
  const std::string gzi = test::read_file(compressed + ".gzi");
  REQUIRE(gzi.size() == 8 + 4 * 16);
  CHECK(gzi[0] == 4);
  CHECK(letters_of(IndexedFasta(compressed), 0, 200'000, 50) == large.substr(200'003, 50));
  folder.file("l.fa.gz", packed.substr(0, packed.size() / 2));
  std::filesystem::remove(compressed + ".gzi");
  CHECK_THAT(error_text([&] { IndexedFasta{compressed}; }),
             ContainsSubstring("l.fa.gz: ends inside a BGZF block"));
}

TEST_CASE("genome.indexed_fasta: characters that are no letters", "[genome]") {
  const test::TempFolder folder;
  const IndexedFasta fasta(folder.file("g.fa", ">a\nACGT\nAX\n>b\nAUG\n"));
  CHECK(letters_of(fasta, 0, 0, 5) == "ACGTA");
  CHECK_THAT(error_text([&] { letters_of(fasta, 0, -3, 20); }),
             ContainsSubstring("g.fa: sequence 'a': 'X' at position 6; expected A, C, G, T, N or"));
  CHECK_THAT(error_text([&] { letters_of(fasta, 1, 1, 2); }),
             ContainsSubstring("'b': 'U' at position 2"));
  CHECK_THAT(error_text([&] { fasta.require("chrX", "x.bed: line 3"); }),
             ContainsSubstring("3 x.bed: line 3: ") &&
                 ContainsSubstring("g.fa has no sequence 'chrX'; it has a, b"));
}

TEST_CASE("genome.indexed_fasta: a compressed file that was cut short", "[genome]") {
  const test::TempFolder folder;
  const std::string text = test::fasta({{"a", "", random_letters(5, 300'000), ""}}, 60, "\n");
  const std::string packed = test::bgzf(folder, text);
  const std::string path = folder.file("g.fa.gz", packed);
  { const IndexedFasta whole(path); }
  folder.file("g.fa.gz", packed.substr(0, packed.size() / 2));
  // Told when it is opened: the end of the sequence is compared with the index.
  CHECK_THAT(error_text([&] { IndexedFasta{path}; }),
             ContainsSubstring("3 ") && ContainsSubstring("g.fa.gz: ends inside a BGZF block") &&
                 ContainsSubstring("cut short"));
  // A .gzi of other numbers.
  folder.file("g.fa.gz", packed);
  const std::string index = test::read_file(path + ".gzi");
  const auto error_of_gzi = [&](std::string bytes) {
    folder.file("g.fa.gz.gzi", bytes);
    return error_text([&] { letters_of(IndexedFasta(path), 0, 299'000, 100); });
  };
  CHECK(error_of_gzi(index) == "no error");
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{7}, index.size() - 1, index.size() - 16})
    CHECK_THAT(error_of_gzi(index.substr(0, size)),
               ContainsSubstring("g.fa.gz.gzi: malformed; expected"));
  CHECK_THAT(error_of_gzi(std::string(8, '\0')),
             ContainsSubstring("is shorter than its index says"));
  for (const std::size_t at :
       {std::size_t{8}, std::size_t{16}, index.size() - 16, index.size() - 8})
    for (const std::size_t byte : {std::size_t{0}, std::size_t{1}, std::size_t{7}}) {
      std::string changed = index;
      changed[at + byte] = static_cast<char>(changed[at + byte] + 1);
      const std::string error = error_of_gzi(changed);
      CHECK((error == "no error" || error.find("g.fa.gz") != error.npos));
    }
}
