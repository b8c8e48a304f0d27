#include "lib/io/sequence_reader.hpp"

#include <memory>
#include <string>
#include <utility>

#include "lib/core/error.hpp"
#include "lib/io/records/fasta.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/io/files.hpp"

using namespace biogpu;
using namespace biogpu::test;
using Reads = std::vector<Read>;

namespace {
constexpr std::size_t kWindow = 256u << 10;  // text that the reader looks at together
}

TEST_CASE("io.sequence_reader: reads FASTA in all its shapes", "[io]") {
  const TempFolder folder;
  const Reads expected{
      {"a", "first one", "ACGTacgu", ""}, {"b", "", "", ""}, {"c", "", "MK*-.", ""}};
  const std::string text =
      GENERATE(as<std::string>(),
               ">a first one\nACGTacgu\n>b\n>c\nMK*-.\n",                        // plain
               ">a first one\nACGTacgu\n>b\n>c\nMK*-.",                          // no final newline
               ">a first one\r\nACGT\r\nacgu\r\n>b\r\n>c\r\nMK*-.\r\n",          // CRLF, wrapped
               "\n \n>a  first one\nA\nC\nGTac\ngu\n\n>b\n\n>c\n\nMK*-.\n\n\n",  // blank lines
               "\xef\xbb\xbf>a\tfirst one\nACGTacgu\n>b\n>c\nMK*-.\r",  // byte order mark, tab
               ">a first one\nACGT  \nacgu\t\n>b\n>c\nMK*-. \n",  // blanks at the ends of lines
               ">a first one\n A CGT\nac\tg u\n>b\n \n>c\nM K *-.\r\n",  // and inside them
               ";by hand\n>a first one\nACGT\n;half\nacgu\n>b\n>c\n;>d\nMK*-.\n;end");
  CHECK(read_all(folder.file("x", text)) == expected);
}

TEST_CASE("io.sequence_reader: reads FASTQ in all its shapes", "[io]") {
  const TempFolder folder;
  const Reads expected{{"a", "1:N:0", "ACGT", "@+>!"}, {"b", "", "", ""}, {"c", "", "n", "~"}};
  const std::string text =
      GENERATE(as<std::string>(), "@a 1:N:0\nACGT\n+\n@+>!\n@b\n\n+\n\n@c\nn\n+\n~\n",
               "@a 1:N:0\nACGT\n+a 1:N:0\n@+>!\n@b\n\n+b\n\n@c\nn\n+c\n~",
               "@a 1:N:0\r\nACGT\r\n+\r\n@+>!\r\n@b\r\n\r\n+\r\n\r\n@c\r\nn\r\n+\r\n~\r\n",
               "\n@a 1:N:0\nACGT\n+\n@+>!\n\n\n@b\n\n+\n\n\n \n@c\nn\n+\n~\n\n\n",
               "\xef\xbb\xbf@a 1:N:0\nACGT\n+\n@+>!\n@b\n\n+\n\n@c\nn\n+\n~\r");
  CHECK(read_all(folder.file("x", text)) == expected);
}

TEST_CASE("io.sequence_reader: a text in UTF-16 or UTF-32 is named", "[io]") {
  const TempFolder folder;
  struct Case {
    std::string text, encoding;
  };
  const Case c = GENERATE(values<Case>({{std::string("\xff\xfe>\0a\0", 6), "UTF-16"},
                                        {std::string("\xfe\xff\0>\0a", 6), "UTF-16"},
                                        {std::string("\xff\xfe\0\0>\0\0\0", 8), "UTF-32"},
                                        {std::string("\0\0\xfe\xff\0\0\0@", 8), "UTF-32"},
                                        {"\xff\xfe", "UTF-16"}}));
  for (const std::string& bytes : {c.text, gzip(c.text)}) {
    const std::string path = folder.file("x", bytes);
    CHECK(error_of(path) == "3 " + path + ": begins with the byte order mark of " + c.encoding +
                                "; expected text in ASCII or UTF-8 (iconv -f " + c.encoding +
                                " -t UTF-8 converts it)");
  }
}

TEST_CASE("io.sequence_reader: a byte order mark in front of SAM", "[io]") {
  const TempFolder folder;
  const std::string line = "r\t4\t*\t0\t0\t*\t*\t0\t0\tACG\tIJK\n";
  for (const std::string& header : std::vector<std::string>{"", "@HD\tVN:1.6\n"}) {
    const std::string text = "\xef\xbb\xbf" + header + line;
    CHECK(read_all(folder.file("x", text)) == Reads{{"r", "", "ACG", "IJK"}});
    CHECK(error_of(folder.file("y", gzip(text))).find("byte order mark") != std::string::npos);
  }
}

TEST_CASE("io.sequence_reader: header lines have a bound", "[io]") {
  const TempFolder folder;
  const std::string name((16u << 20) + 1, 'n');
  for (const std::string& text :
       {">" + name + "\nAC\n", ">b\nAC\n>a " + name + "\nAC\n", "@" + name + "\nAC\n+\nII\n"}) {
    const bool is_second = text[1] == 'b';
    CHECK(error_of(folder.file("x", gzip(text)))
              .ends_with(is_second ? "record 2 (line 3): the header line is longer than 16 MiB"
                                   : "record 1 (line 1): the header line is longer than 16 MiB"));
  }
  CHECK(error_of(folder.file("y", "@a\nAC\n+" + name + "\nII\n"))
            .ends_with("record 1 (line 3): the line that begins with '+' is longer than 16 MiB"));
  CHECK(read_all(folder.file("z", std::string(">") + name.substr(1) + "\nAC\n")) ==
        Reads{{name.substr(1), "", "AC", ""}});
}

TEST_CASE("io.sequence_reader: a description may look like a line of SAM", "[io]") {
  const TempFolder folder;
  const std::string columns = "\t16\tt\t1\t60\t4=\t*\t0\t0\tACGT\tIIII";
  const std::string comment = columns.substr(1);
  CHECK(read_all(folder.file("x", ">a" + columns + "\nMKV\n")) == Reads{{"a", comment, "MKV", ""}});
  CHECK(read_all(folder.file("y", "@a" + columns + "\nAC\n+\nIJ\n")) ==
        Reads{{"a", comment, "AC", "IJ"}});
}

TEST_CASE("io.sequence_reader: an empty quality at the very end is a whole record", "[io]") {
  const TempFolder folder;
  CHECK(read_all(folder.file("x", "@a\n\n+\n")) == Reads{{"a", "", "", ""}});
  CHECK(read_all(folder.file("y", "@a\n\n+")) == Reads{{"a", "", "", ""}});
}

TEST_CASE("io.sequence_reader: an empty file has no records", "[io]") {
  const TempFolder folder;
  const std::string text = GENERATE(as<std::string>(), "", "\n\n", "\xef\xbb\xbf", " \r\n");
  CHECK(read_all(folder.file("plain", text)).empty());
  CHECK(read_all(folder.file("gzip", gzip(text))).empty());
  CHECK(read_all(folder.file("bgzf", bgzf(folder, text))).empty());
}

TEST_CASE("io.sequence_reader: refuses malformed records with file, record and line", "[io]") {
  const TempFolder folder;
  struct Case {
    std::string text;
    std::string message;
  };
  const Case c = GENERATE(values<Case>({
      {"ACGT\n",
       "record 1 (line 1): 'A' begins the file; expected '>' (FASTA), '@' (FASTQ), or "
       "SAM, BAM or CRAM"},
      {"\n\n\x01", "record 1 (line 3): byte 0x01 begins the file"},
      {">\nACGT\n", "record 1 (line 1): the name is empty; expected a name right after '>'"},
      {">a\nACGT\n> b\nA\n", "record 2 (line 3): the name is empty"},
      {">a\nAC\nA1GT\n", "record 1 (line 3): '1' in the sequence; expected letters"},
      {">a\nAC\n>b\nAC;GT\n", "record 2 (line 4): ';' in the sequence"},
      {">a\n;GT\nAC 1 GT\n", "record 1 (line 3): '1' in the sequence"},
      {">a\nAC\n\x1a", "record 1 (line 3): byte 0x1a in the sequence"},
      {">a\nAC\rGT\n", "record 1 (line 2): byte 0x0d in the sequence"},
      {">a\nAC\n >b\nA\n", "record 1 (line 3): '>' in the sequence"},
      {";one\n@a\nA\n+\nI\n", "record 1 (line 1): ';' begins the file"},
      {";one\n", "record 1 (line 2): ';' begins the file"},
      {">a\nAC>b\n", "record 1 (line 2): '>' in the sequence"},
      {std::string(">a\nAC\0GT\n", 9), "record 1 (line 2): byte 0x00 in the sequence"},
      {">a\rACGT\r", "record 1 (line 1): a carriage return inside the header line"},
      {"@a\nACGT\n+\nIII\n",
       "record 1 (line 4): quality has 3 symbols, sequence has 4; the file "
       "may be cut short"},
      {"@a\nACGT\n+\nIIII\n@b\nA\n+\nII\n", "record 2 (line 8): quality has 2 symbols"},
      {"@a\nACGT\n+\n", "record 1 (line 4): quality has 0 symbols, sequence has 4"},
      {"@a\nACGT\n", "record 1 (line 2): the file ends inside the record"},
      {"@a\nACGT", "record 1 (line 2): the file ends inside the record"},
      {"@a", "record 1 (line 2): the file ends inside the record"},
      {"@a\nAC\nGT\n+\nIIII\n", "record 1 (line 3): 'G' begins the third line; expected '+'"},
      {"@a\nA\n+\nI\n>b\nA\n", "record 2 (line 5): '>' begins the record; expected '@'"},
      {"@a\nA C\n+\nIII\n", "record 1 (line 2): a blank in the sequence"},
      {"@a\nAC\n+\nI\x7f\n", "record 1 (line 4): byte 0x7f in the quality; expected symbols from"},
      {"@a x\ry\nA\n+\nI\n", "record 1 (line 1): a carriage return inside the header line"},
      {"@\nA\n+\nI\n", "record 1 (line 1): the name is empty; expected a name right after '@'"},
  }));
  const std::string path = folder.file("x", c.text);
  const std::string expected = "3 " + path + ": " + c.message;
  CHECK(error_of(path).substr(0, expected.size()) == expected);
  CHECK(error_of(folder.file("y", gzip(c.text))).find(c.message) != std::string::npos);
}

TEST_CASE("io.sequence_reader: names files that cannot be read", "[io]") {
  const TempFolder folder;
  CHECK(error_of(folder.path("none")) ==
        "1 " + folder.path("none") + ": cannot be opened: No such file or directory");
  CHECK(error_of(folder.path("")) == "1 " + folder.path("") + ": is a folder; expected a file");
  CHECK(error_of(folder.file("x", "BZh91AY")).find("is compressed with bzip2") !=
        std::string::npos);
}

TEST_CASE("io.sequence_reader: records of every length around the edges of its window", "[io]") {
  const TempFolder folder;
  const std::size_t pad = GENERATE(kWindow - 40, kWindow - 17, kWindow - 3, kWindow - 2,
                                   kWindow - 1, kWindow, kWindow + 1, 3 * kWindow + 5);
  const bool with_quality = GENERATE(false, true);
  Reads reads = random_reads(7, 40, 6, with_quality);
  reads[0].sequence.assign(pad, 'A');
  if (with_quality) reads[0].quality.assign(pad, 'I');
  const std::string newline = GENERATE(as<std::string>(), "\n", "\r\n");
  const std::string text = with_quality ? fastq(reads, newline) : fasta(reads, 0, newline);
  CHECK(read_all(folder.file("x", text)) == reads);
  reads[0].name.assign(pad, 'n');  // a header line across the edge
  CHECK(read_all(folder.file("y", with_quality ? fastq(reads, "\n") : fasta(reads, 60, "\n"))) ==
        reads);
}

TEST_CASE("io.sequence_reader: what is written is what is read, however it is cut", "[io]") {
  const TempFolder folder;
  const unsigned seed = GENERATE(range(1u, 7u));
  const bool with_quality = seed % 2 == 0;
  const Reads reads = random_reads(seed, 3000, seed < 3 ? 40 : 700, with_quality);
  const std::string text = with_quality ? fastq(reads, "\n") : fasta(reads, 10 * seed, "\n");
  const std::string path = folder.file("x", text);
  CHECK(read_all(path) == reads);
  CHECK(read_all(path, 1, {1, 1u << 30}) == reads);
  CHECK(read_all(path, 1, {1000, 777}) == reads);
  const std::string packed = folder.file("gz", gzip(text));
  const std::string blocks = folder.file("bgz", bgzf(folder, text));
  for (const int n_threads : {1, 2, 5}) {
    CHECK(read_all(packed, n_threads) == reads);
    CHECK(read_all(blocks, n_threads) == reads);
  }
}

TEST_CASE("io.sequence_reader: a batch ends with the record that reaches a limit", "[io]") {
  const TempFolder folder;
  const std::string path = folder.file("x", ">a\nACG\n>b\nAC\n>c\nACGTA\n>d\nA\n");
  io::SequenceReader reader(path);
  io::SequenceBatch batch;
  REQUIRE(reader.read(batch, {10, 4}));
  CHECK(batch.size() == 2);
  CHECK(batch.n_residues() == 5);
  REQUIRE(reader.read(batch, {1, 100}));
  CHECK(batch.size() == 1);
  CHECK(batch.first_record() == 3);
  REQUIRE(reader.read(batch, {0, 0}));  // never less than one record
  CHECK(batch.name(0) == "d");
  CHECK_FALSE(reader.read(batch));
  CHECK(batch.empty());
  CHECK_FALSE(reader.read(batch));
  CHECK(reader.n_residues() == 11);
  CHECK(reader.compressed_bytes() == reader.file_bytes());
}

TEST_CASE("io.sequence_reader: long records come in pieces that overlap", "[io]") {
  const TempFolder folder;
  const Reads reads = random_reads(77, 60, 300, false);
  const std::string path = folder.file("x", fasta(reads, GENERATE(0, 7, 60), "\n"));
  const std::size_t overlap = GENERATE(0, 1, 9);
  const std::uint64_t piece = GENERATE(10, 64, 299, 1000);
  io::SequenceReader reader(path);
  reader.split_records(piece, overlap);
  Reads got;
  std::uint64_t n_residues = 0;
  for (io::SequenceBatch batch; reader.read(batch, {4, 100});)
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const std::string sequence(batch.sequence(i));
      CHECK(sequence.size() <= piece);
      const bool goes_on = !got.empty() && got.back().name == batch.name(i);
      if (!goes_on)
        got.push_back({std::string(batch.name(i)), std::string(batch.comment(i)), "", ""});
      std::string& whole = got.back().sequence;
      if (goes_on) CHECK(whole.substr(whole.size() - overlap) == sequence.substr(0, overlap));
      whole += sequence.substr(goes_on ? overlap : 0);
    }
  CHECK(got == reads);
  for (const Read& read : reads) n_residues += read.sequence.size();
  CHECK(reader.n_records() == reads.size());
  CHECK(reader.n_residues() == n_residues);
  // Records are selected as without pieces.
  io::SequenceReader some(path);
  some.select({7, 11});
  some.split_records(piece, overlap);
  std::vector<std::string> names;
  for (io::SequenceBatch batch; some.read(batch, {3, 50});)
    for (std::size_t i = 0; i < batch.size(); ++i)
      if (names.empty() || names.back() != batch.name(i)) names.emplace_back(batch.name(i));
  CHECK(names ==
        std::vector<std::string>{reads[7].name, reads[8].name, reads[9].name, reads[10].name});
}

TEST_CASE("io.fasta: a '>' inside a line is an error where a window or a piece ends before it",
          "[io]") {
  class Text : public io::input::ByteSource {
   public:
    explicit Text(std::string text) : text_(std::move(text)) {}
    std::size_t read(char* to, std::size_t n) override {
      const std::size_t got = text_.copy(to, n, at_);
      at_ += got;
      return got;
    }

   private:
    std::string text_;
    std::size_t at_ = 0;
  };
  const auto message = [](const std::string& text, std::uint64_t max_piece) {
    io::input::TextWindow window(std::make_unique<Text>(text));
    io::input::FastaSource source(window, "x.fa", 1);
    source.split_records(max_piece, 1);
    io::SequenceBatch batch;
    try {
      while (source.next(batch)) {
      }
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  const std::string expected =
      "x.fa: record 1 (line 2): '>' in the sequence; expected letters, '*', '-' or '.'";
  CHECK(message(">a\nACGT>b\nAC\n", 4) == expected);
  // The window holds 256 KiB: each of these sizes ends it behind, before or inside the line.
  for (const std::size_t n : {262140, 262141, 262142})
    CHECK(message(">a\n" + std::string(n, 'A') + ">b\nAC\n", UINT64_MAX) == expected);
  CHECK(message(">a\n" + std::string(262140, 'A') + "\n>b\nAC\n", UINT64_MAX) == "none");
}
