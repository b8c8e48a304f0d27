#include <cctype>
#include <cstdlib>
#include <filesystem>

#include "lib/bio/genome/bed.hpp"
#include "lib/bio/genome/fasta_windows.hpp"
#include "lib/bio/genome/window.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/bio/genome/error_text.hpp"
#include "tests/unit/io/files.hpp"

using namespace biogpu;
using namespace biogpu::genome;
using test::error_text;

namespace {

using Found = std::vector<std::string>;

std::string show(const Window& w) {
  return w.key + " " + std::to_string(w.contig) + " " + std::to_string(w.begin) + " " +
         std::to_string(w.end);
}

Found read_bed(const std::string& path, const IndexedFasta& genome) {
  BedReader reader(path, genome);
  Found found;
  for (Window window; reader.next(window);) found.push_back(show(window));
  return found;
}

std::string fitted(const std::string& text, std::size_t length) {
  std::vector<LetterCode> codes(text.size());
  encode_letters(text, codes.data());
  return decode_letters(fit_centre(codes, length));
}

}  // namespace

TEST_CASE("genome.windows: resizing keeps the centre", "[genome]") {
  const Window window{"k", 1, 100, 110};
  CHECK(show(resize_centre(window, 4)) == "k 1 103 107");
  CHECK(show(resize_centre(window, 5)) == "k 1 103 108");
  CHECK(show(resize_centre(window, 300)) == "k 1 -45 255");
  CHECK(show(resize_centre({"k", 1, 7, 8}, 4)) == "k 1 5 9");  // letter 7 is letter 4 / 2
  CHECK(show(resize_centre({"k", 1, 7, 7}, 4)) == "k 1 5 9");
  CHECK(show(shifted(window, -3)) == "k 1 97 107");
  for (std::int64_t size = 1; size < 9; ++size)
    for (std::int64_t length = 1; length < 9; ++length) {
      const Window resized = resize_centre({"", 0, 50, 50 + size}, length);
      CHECK(resized.size() == length);
      CHECK(resized.begin + length / 2 == 50 + size / 2);
    }
}

TEST_CASE("genome.windows: sequences are cut and padded about their centre", "[genome]") {
  CHECK(fitted("ACGT", 4) == "ACGT");
  CHECK(fitted("ACGT", 8) == "NNACGTNN");
  CHECK(fitted("ACG", 8) == "NNNACGNN");
  CHECK(fitted("ACGT", 7) == "NACGTNN");
  CHECK(fitted("ACGT", 2) == "CG");
  CHECK(fitted("ACGTA", 2) == "CG");
  CHECK(fitted("ACGT", 1) == "G");
  CHECK(fitted("", 3) == "NNN");
  CHECK(fitted("ACGT", 0).empty());
}

TEST_CASE("genome.windows: BED", "[genome]") {
  const test::TempFolder folder;
  const IndexedFasta genome(folder.file("g.fa", ">chr1\nACGTACGTAC\n>chr2\nAC\n"));
  const std::string text =
      "# comment\nbrowser position chr1\ntrack name=x\n\n"
      "chr1\t0\t10\tfirst\t5\t-\r\nchr2\t1\t1\n chr1 2  4  . \nchr1\t3\t9\t\n";
  const Found expected = {"first 0 0 10", "chr2:1-1 1 1 1", "chr1:2-4 0 2 4", "chr1:3-9 0 3 9"};
  CHECK(read_bed(folder.file("a.bed", text), genome) == expected);
  CHECK(read_bed(folder.file("a.bed.gz", test::gzip(text)), genome) == expected);
  CHECK(read_bed(folder.file("empty.bed", ""), genome).empty());
  const auto error_of_line = [&](const std::string& line) {
    const std::string path = folder.file("bad.bed", "chr1\t0\t1\n" + line + "\n");
    const std::string error = error_text([&] { read_bed(path, genome); });
    CHECK(error.starts_with("3 " + path + ": line 2: "));
    return error;
  };
  for (const char* line : {"chr1", "chr1\t1", "chr1\t1\tx", "chr1\t-1\t5", "chr1\t5\t4",
                           "chr1\t1.5\t4", "chr1\t\t4", "chr1\t1\t99999999999999999999"})
    CHECK_THAT(error_of_line(line),
               ContainsSubstring("malformed; expected chromosome, start and end"));
  CHECK_THAT(error_of_line("1\t0\t5"),
             ContainsSubstring("has no sequence '1'; it has chr1, chr2; '1' may be"));
  CHECK_THAT(error_of_line("chr2\t0\t3"), ContainsSubstring("ends at 3; 'chr2' has 2 letters"));
  CHECK_THAT(error_of_line("chr2\t2\t2"),
             ContainsSubstring("empty region at 2, behind the 2 letters"));
  CHECK_THAT(error_of_line("tracks\t0\t3"), ContainsSubstring("no sequence 'tracks'"));
}

TEST_CASE("genome.windows: region strings", "[genome]") {
  const std::vector<Contig> contigs = {{"chr1", 1000}, {"chr2", 5}};
  CHECK(show(parse_window("chr1:1-1,000", contigs)) == "chr1:1-1,000 0 0 1000");
  CHECK(show(parse_window("chr2:3", contigs)) == "chr2:3 1 2 5");
  CHECK(show(parse_window("chr2", contigs)) == "chr2 1 0 5");
  CHECK_THAT(error_text([&] { parse_window("chr2:3-6", contigs); }),
             ContainsSubstring("2 region 'chr2:3-6': ends behind the 5 letters of 'chr2'"));
  CHECK(error_text([&] { parse_window("chr3:3-6", contigs); }).starts_with("2 region"));
  CHECK(error_text([&] { parse_window("chr2:6-3", contigs); }).starts_with("2 region"));
}

TEST_CASE("genome.windows: records of FASTA", "[genome]") {
  const test::TempFolder folder;
  const std::string path = folder.file("w.fa", ">a x\nACGT\nAC\n>b\nnr\n");
  const auto read = [&](std::optional<std::size_t> length, Fit fit) {
    FastaWindows windows(path, length, fit);
    Found found;
    for (SequenceWindow w; windows.next(w);) found.push_back(w.key + " " + decode_letters(w.codes));
    return found;
  };
  CHECK(read(std::nullopt, Fit::exact) == Found{"a ACGTAC", "b NN"});
  CHECK(read(4, Fit::centre) == Found{"a CGTA", "b NNNN"});
  CHECK_THAT(error_text([&] { read(6, Fit::exact); }),
             ContainsSubstring("3 " + path +
                               ": record 2 ('b'): 2 letters; the model takes 6; --fit centre"));
  folder.file("w.fa", ">a\nACGT\n>b\nAC\nG*\n");
  CHECK_THAT(error_text([&] { read(4, Fit::exact); }),
             ContainsSubstring("w.fa: record 2 ('b'): '*' at position 4; expected A, C, G, T, N"));
}

TEST_CASE("genome.windows: real sequences", "[genome]") {
  const char* const elsewhere = std::getenv("BIOGPU_GENOMES");
  const std::string folder_of_data = elsewhere != nullptr ? elsewhere : BIOGPU_SHARED_GENOMES;
  const std::string lambda = folder_of_data + "/lambda_virus.fa";
  const std::string human = folder_of_data + "/human_chr22_20-21M.fa";
  if (!std::filesystem::exists(lambda) || !std::filesystem::exists(human)) return;
  const test::TempFolder folder;
  for (const std::string& source : {lambda, human}) {
    const std::vector<test::Read> records = test::read_all(source);
    REQUIRE(records.size() == 1);
    const std::string plain = folder.file("g.fa", test::read_file(source));
    const std::string packed = folder.file("g.fa.gz", test::bgzf(folder, test::read_file(source)));
    for (const char* name : {"g.fa.fai", "g.fa.gz.fai", "g.fa.gz.gzi"})
      std::filesystem::remove(folder.path(name));
    for (const std::string& path : {plain, packed}) {
      const IndexedFasta genome(path);
      const auto length = static_cast<std::int64_t>(records[0].sequence.size());
      CHECK(genome.contigs()[0].length == records[0].sequence.size());
      for (const std::int64_t centre : {std::int64_t{10}, length / 3, length - 10}) {
        const Window window = resize_centre({"", 0, centre, centre + 1}, 4096);
        std::vector<LetterCode> codes(4096);
        genome.fetch(0, window.begin, codes);
        const std::string text = decode_letters(codes);
        std::size_t n_wrong = 0;
        for (std::int64_t i = 0; i < 4096; ++i) {
          const std::int64_t at = window.begin + i;
          const char expected = at < 0 || at >= length
                                    ? 'N'
                                    : static_cast<char>(std::toupper(
                                          records[0].sequence[static_cast<std::size_t>(at)]));
          n_wrong += text[static_cast<std::size_t>(i)] != expected;
        }
        CHECK(n_wrong == 0);
      }
    }
  }
}
