#include "lib/io/alignments/sam_writer.hpp"

#include <fmt/format.h>
#include <htslib/sam.h>
#include <unistd.h>

#include <memory>

#include "lib/core/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/io/files.hpp"

using namespace biogpu;
using namespace biogpu::test;
using Names = std::vector<std::string>;
using Targets = std::vector<std::pair<std::string, std::uint64_t>>;

namespace {

std::uint32_t op(std::uint32_t length, std::uint32_t code) { return length << 4 | code; }

io::SamRecord record_of(std::string_view name, std::span<const std::uint32_t> cigar,
                        std::string_view sequence, std::string_view quality) {
  io::SamRecord record;
  record.query_name = name;
  record.target_id = 1;
  record.target_begin = 6;
  record.cigar = cigar;
  record.sequence = sequence;
  record.quality = quality;
  record.score = -17;
  record.edit_distance = 2;
  return record;
}

// The records of a file as SAM text, by htslib.
std::string lines_of(const std::string& path) {
  const std::unique_ptr<htsFile, int (*)(htsFile*)> file(hts_open(path.c_str(), "r"), hts_close);
  REQUIRE(file);
  const std::unique_ptr<sam_hdr_t, void (*)(sam_hdr_t*)> header(sam_hdr_read(file.get()),
                                                                sam_hdr_destroy);
  REQUIRE(header);
  const std::unique_ptr<bam1_t, void (*)(bam1_t*)> read(bam_init1(), bam_destroy1);
  std::string text;
  kstring_t line = KS_INITIALIZE;
  int status = 0;
  while ((status = sam_read1(file.get(), header.get(), read.get())) >= 0) {
    REQUIRE(sam_format1(header.get(), read.get(), &line) >= 0);
    text += std::string(line.s, line.l) + "\n";
  }
  ks_free(&line);
  CHECK(status == -1);
  return text;
}

std::string refusal(const std::string& path, const Targets& targets, const std::string& name) {
  try {
    io::SamWriter writer(path, targets, "");
    writer.write(record_of(name, {}, "A", ""));
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::bad_input);
    return error.what();
  }
  return "no error";
}

// htslib leaks the last container of a CRAM file that is given up or whose disk is full: nothing
// that a sanitizer build can pass.
#ifdef __SANITIZE_ADDRESS__
const Names kFormats{"x.sam", "x.sam.gz", "x.bam"};
#else
const Names kFormats{"x.sam", "x.sam.gz", "x.bam", "x.cram"};
#endif

const Targets kTargets{{"chr1", 100}, {"chr2", 2000}};

}  // namespace

TEST_CASE("io.sam_writer: SAM text, to the byte", "[io]") {
  const TempFolder folder;
  io::SamWriter writer(folder.path("x.sam"), kTargets, "biogpu align\ta b");
  const std::vector<std::uint32_t> cigar{op(2, 7), op(1, 8), op(3, 2), op(1, 1)};
  writer.write(record_of("q1", cigar, "acMK", "IIJJ"));
  io::SamRecord unmapped;
  unmapped.query_name = "q2";
  unmapped.flag = 4;
  unmapped.mapq = 0;
  writer.write(unmapped);
  CHECK(writer.n_records() == 2);
  writer.commit();
  CHECK(folder.names() == Names{"x.sam"});
  CHECK(read_file(folder.path("x.sam")) ==
        "@HD\tVN:1.6\tSO:unknown\n@SQ\tSN:chr1\tLN:100\n@SQ\tSN:chr2\tLN:2000\n"
        "@PG\tID:biogpu\tPN:biogpu\tVN:0.1.0\tCL:biogpu align a b\n"
        "q1\t0\tchr2\t7\t255\t2=1X3D1I\t*\t0\t0\tacMK\tIIJJ\tAS:i:-17\tNM:i:2\n"
        "q2\t4\t*\t0\t0\t*\t*\t0\t0\t*\t*\tAS:i:0\n");
}

TEST_CASE("io.sam_writer: SAM, BAM and CRAM hold the same records", "[io]") {
  const TempFolder folder;
  const int n_threads = GENERATE(1, 3);
  std::vector<std::string> lines;
  for (const char* name : {"x.sam", "x.sam.gz", "x.bam", "x.cram"}) {
    io::SamWriter writer(folder.path(name), kTargets, "biogpu align", n_threads);
    // M: CRAM gives '=' and 'X' back as M.
    const std::vector<std::uint32_t> cigar{op(2, 0), op(3, 2), op(2, 1)};
    for (int i = 0; i < 3000; ++i) {
      writer.write(record_of(fmt::format("q{}", i), cigar, "ACGT", i % 2 == 0 ? "IIJJ" : ""));
    }
    writer.commit();
    lines.push_back(lines_of(folder.path(name)));
    CHECK(lines.back() == lines.front());
  }
  CHECK(folder.names() == Names{"x.bam", "x.cram", "x.sam", "x.sam.gz"});
}

TEST_CASE("io.sam_writer: a CIGAR of more than 65535 operations", "[io]") {
  const TempFolder folder;
  const std::string name = GENERATE(as<std::string>(), "x.sam", "x.bam");
  std::vector<std::uint32_t> cigar;
  for (int i = 0; i < 50000; ++i) {
    cigar.push_back(op(1, 7));
    cigar.push_back(op(1, 1));
  }
  io::SamWriter writer(folder.path(name), Targets{{"a", 1}, {"b", 90000}}, "");
  writer.write(record_of("long", cigar, std::string(100000, 'A'), ""));
  writer.commit();
  std::string expected;
  for (int i = 0; i < 50000; ++i) expected += "1=1I";
  CHECK(lines_of(folder.path(name)).find("\t" + expected + "\t") != std::string::npos);
}

TEST_CASE("io.sam_writer: without commit nothing is left", "[io]") {
  const TempFolder folder;
  for (const std::string& name : kFormats) {
    io::SamWriter writer(folder.path(name), kTargets, "", 2);
    for (int i = 0; i < 1000; ++i) writer.write(record_of("q", {}, "ACGT", ""));
  }
  CHECK(folder.names().empty());
}

TEST_CASE("io.sam_writer: a full disk is an error in every format", "[io]") {
  const TempFolder folder;
  const std::string path = folder.path(GENERATE(from_range(kFormats)));
  REQUIRE(symlink("/dev/full", path.c_str()) == 0);
  const int n_threads = GENERATE(1, 2);
  try {
    io::SamWriter writer(path, kTargets, "", n_threads);
    for (int i = 0; i < 20000; ++i) writer.write(record_of("q", {}, "ACGTACGTAC", ""));
    writer.commit();
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(std::string(error.what()) == path + ": cannot be written: No space left on device");
  }
}

TEST_CASE("io.sam_writer: names that SAM cannot hold are refused", "[io]") {
  const TempFolder folder;
  const std::string path = folder.path(GENERATE(as<std::string>(), "x.sam", "x.bam"));
  CHECK(refusal(path, {{"a", 1}, {"b", 1}, {"a", 2}}, "q") ==
        path + ": records 1 and 3 are both named 'a'; targets of SAM need different names");
  CHECK(refusal(path, {{"", 1}}, "q").find("record 1 is named ''") != std::string::npos);
  CHECK(refusal(path, {{"*a", 1}}, "q").find("record 1 is named '*a'") != std::string::npos);
  CHECK(refusal(path, kTargets, std::string(255, 'q')).find("has 255 characters") !=
        std::string::npos);
  CHECK(refusal(path, kTargets, "a@b").find("holds an '@'") != std::string::npos);
  CHECK(folder.names().empty());
}

TEST_CASE("io.sam_writer: a target too long for BAM is refused, and SAM holds it", "[io]") {
  const TempFolder folder;
  const Targets targets{{"a", 1}, {"long", 1ull << 32}};
  CHECK(refusal(folder.path("x.bam"), targets, "q").find("'long' has 4294967296 residues") !=
        std::string::npos);
  CHECK(refusal(folder.path("x.sam"), targets, "q") == "no error");
}
