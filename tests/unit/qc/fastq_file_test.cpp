#include "lib/qc/input/fastq_file.hpp"

#include "lib/core/error.hpp"
#include "lib/qc/input/prefetcher.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/io/files.hpp"
#include "tests/unit/qc/says.hpp"

using namespace biogpu;
using namespace biogpu::qc;
using biogpu::test::says;
using biogpu::test::TempFolder;

namespace {

// All records as "name|sequence|strand|quality" lines, read in chunks of n.
std::string read_back(const std::string& path, std::size_t n, Damage damage = Damage::refused) {
  FastqFile file(path, damage, {});
  FastqChunk chunk;
  std::string all;
  while (file.read(chunk, n))
    for (const RecordPlace& r : chunk.records)
      all += std::string(chunk.name(r)) + "|" + std::string(chunk.sequence(r), r.length) + "|" +
             std::string(chunk.strand(r)) + "|" + std::string(chunk.quality(r), r.length) + "\n";
  return all;
}

std::string error_of(const std::string& path) {
  try {
    read_back(path, 10);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("qc.fastq_file: ends of lines, empty reads and a missing last one are accepted", "[qc]") {
  const TempFolder folder;
  const std::string path =
      folder.file("a.fq", "@a x\nACG\n+a\nIII\n\n@b\r\nAC\r\n+\r\n##\r\n@c\n\n+\n\n@d\nT\n+\nI");
  for (const std::size_t n : {1, 2, 3, 100})
    CHECK(read_back(path, n) == "@a x|ACG|+a|III\n@b|AC|+|##\n@c||+|\n@d|T|+|I\n");
}

TEST_CASE("qc.fastq_file: chunks do not depend on pieces of the file", "[qc]") {
  std::string text;
  std::string expected;
  for (int i = 0; i < 9000; ++i) {
    const std::string name = "@r" + std::to_string(i);
    const std::string bases(static_cast<std::size_t>(i % 211), "ACGT"[i % 4]);
    const std::string symbols(bases.size(), 'F');
    text += name + "\n" + bases + "\n+\n" + symbols + "\n";
    expected += name + "|" + bases + "|+|" + symbols + "\n";
  }
  const TempFolder folder;
  CHECK(read_back(folder.file("a.fq", text), 1000) == expected);
  CHECK(read_back(folder.file("b.gz", test::gzip(text)), 4000) == expected);
  CHECK(read_back(folder.file("c", test::bgzf(folder, text)), 3333) == expected);
}

TEST_CASE("qc.fastq_file: a damaged record is named", "[qc]") {
  const TempFolder folder;
  const std::string good = "@a\nACG\n+\nIII\n";
  const auto error = [&](const std::string& text) { return error_of(folder.file("a.fq", text)); };
  CHECK(says(error(good + "@b\nAC\n+\nI\n"),
             "record 2 (line 8): quality has 1 symbols, sequence has 2"));
  CHECK(says(error(good + "@b\nAC\nII\n@c\n"), "record 2 (line 7): expected '+'"));
  CHECK(says(error(good + ">b\nAC\n"), "record 2 (line 5): expected '@'"));
  CHECK(says(error(good + "@b\nAC\n+\n"), "the file ends inside the record"));
  CHECK(says(error(good + "@b\n\n"), "the file ends inside the record"));
}

TEST_CASE("qc.fastq_file: a last read without bases needs no last end of line", "[qc]") {
  const TempFolder folder;
  const std::string good = "@a\nACG\n+\nIII\n";
  for (const std::string& end :
       std::initializer_list<std::string>{"@b\n\n+\n", "@b\r\n\r\n+x\r\n", "@b\n\n+"})
    for (const std::size_t n : {1, 2, 9}) {
      const std::string all = read_back(folder.file("a.fq", good + end), n);
      CHECK(all.starts_with("@a|ACG|+|III\n@b||+"));
      CHECK(all.ends_with("|\n"));
    }
}

TEST_CASE("qc.fastq_file: a line beyond all reads is refused, wherever it is", "[qc]") {
  const TempFolder folder;
  const std::string good = "@a\nACG\n+\nIII\n";
  const std::string longest(FastqFile::kMaxLine, 'C');
  for (const std::string& text : std::initializer_list<std::string>{
           "@b\n" + longest + "C\n+\n", "@" + longest + "\nA\n+\nI\n", "@b\nA\n+\nC" + longest,
           longest + longest}) {
    CHECK(says(error_of(folder.file("a.fq", good + text)), "is longer than 16 MiB"));
    CHECK(says(error_of(folder.file("a.fq.gz", test::gzip(good + text))), "is longer than 16 MiB"));
  }
  const std::string whole = "@b\n" + longest + "\n+\n" + longest + "\n";
  CHECK(read_back(folder.file("a.fq", whole), 9) == "@b|" + longest + "|+|" + longest + "\n");
}

TEST_CASE("qc.fastq_file: what lies between records is not kept", "[qc]") {
  const TempFolder folder;
  const std::string record = "@a\nACG\n+\nIII\n";
  for (const std::string& filling :
       std::initializer_list<std::string>{"\n", "\r\n", "no record\n"}) {
    std::string text = record;
    while (text.size() < 8000000) text += filling;
    text += record;
    FastqFile file(folder.file("a.fq", text), Damage::skipped, {});
    FastqChunk chunk;
    CHECK(file.read(chunk, 10));
    CHECK(chunk.records.size() == 2);
    CHECK(chunk.text.capacity() < 2000000);
    CHECK(std::string(chunk.sequence(chunk.records[1]), 3) == "ACG");
  }
}

TEST_CASE("qc.fastq_file: a chunk ends at so much text", "[qc]") {
  const TempFolder folder;
  std::string text;
  for (int i = 0; i < 100; ++i) {
    text += '@';
    text += std::to_string(i);
    text += "\nACGT\n+\nIIII\n";
  }
  FastqFile file(folder.file("a.fq", text), Damage::refused, {});
  FastqChunk chunk;
  std::size_t n_records = 0;
  while (file.read(chunk, 40, 150)) {
    CHECK(chunk.records.size() <= 11);
    for (const RecordPlace& r : chunk.records)
      CHECK(chunk.name(r).substr(1) == std::to_string(n_records++));
  }
  CHECK(n_records == 100);
}

TEST_CASE("qc.prefetcher: reads of a chunk that take too much text are refused", "[qc]") {
  const TempFolder folder;
  std::string text;
  for (int i = 0; i < 40; ++i)
    text += "@r\n" + std::string(30, 'A') + "\n+\n" + std::string(30, 'I') + "\n";
  const std::string path = folder.file("long.fq.gz", test::gzip(text));
  const auto n_read = [&](std::size_t n_records, std::size_t max_bytes) {
    FastqFile file(path, Damage::refused, {});
    Prefetcher ahead(file, n_records, 0, max_bytes);
    FastqChunk chunk;
    std::size_t n = 0;
    while (ahead.next(chunk)) n += chunk.records.size();
    return n;
  };
  // A record has 67 bytes.
  CHECK(n_read(10, 671) == 40);
  CHECK_THROWS_AS(n_read(10, 670), Error);
  CHECK(n_read(9, 670) == 40);
  CHECK_THROWS_AS(n_read(40, 2000), Error);
}

TEST_CASE("qc.fastq_file: a look ends at what is no record", "[qc]") {
  const TempFolder folder;
  const std::string record = "@a\nACG\n+\nIII\n";
  const std::string path = folder.file("a.fq", record + "junk\n" + record);
  CHECK(read_back(path, 10, Damage::ends_look) == "@a|ACG|+|III\n");
  CHECK(read_back(path, 10, Damage::skipped) == "@a|ACG|+|III\n@a|ACG|+|III\n");
}

TEST_CASE("qc.fastq_file: lenient reading ends where fastp ends", "[qc]") {
  const TempFolder folder;
  const std::string path =
      folder.file("a.fq", "junk\n@a\nACG\nx\nIII\n@b\nAC\n+\nI\n@c\nA\n+\nI\n");
  CHECK(read_back(path, 10, Damage::skipped) == "@a|ACG|x|III\n");
}

TEST_CASE("qc.fastq_file: a gzip file that is cut short is an error", "[qc]") {
  const TempFolder folder;
  std::string packed = test::gzip("@a\nACG\n+\nIII\n");
  packed.resize(packed.size() - 5);
  CHECK(says(error_of(folder.file("a.fq.gz", packed)), "cut short"));
}
