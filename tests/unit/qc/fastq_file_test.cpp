#include "lib/qc/input/fastq_file.hpp"

#include "lib/core/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/io/files.hpp"

using namespace biogpu;
using namespace biogpu::qc;
using biogpu::test::TempFolder;

namespace {

// All records as "name|sequence|strand|quality" lines, read in chunks of n.
std::string read_back(const std::string& path, std::size_t n, bool lenient = false) {
  FastqFile file(path, lenient, {});
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

bool says(const std::string& message, const std::string& part) {
  if (message.find(part) != std::string::npos) return true;
  WARN(message);
  return false;
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
}

TEST_CASE("qc.fastq_file: lenient reading ends where fastp ends", "[qc]") {
  const TempFolder folder;
  const std::string path =
      folder.file("a.fq", "junk\n@a\nACG\nx\nIII\n@b\nAC\n+\nI\n@c\nA\n+\nI\n");
  CHECK(read_back(path, 10, true) == "@a|ACG|x|III\n");
}

TEST_CASE("qc.fastq_file: a gzip file that is cut short is an error", "[qc]") {
  const TempFolder folder;
  std::string packed = test::gzip("@a\nACG\n+\nIII\n");
  packed.resize(packed.size() - 5);
  CHECK(says(error_of(folder.file("a.fq.gz", packed)), "cut short"));
}
