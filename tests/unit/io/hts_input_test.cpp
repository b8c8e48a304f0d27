#include "lib/core/error.hpp"
#include "lib/io/sam_writer.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/io/files.hpp"

using namespace biogpu;
using namespace biogpu::test;
using Reads = std::vector<Read>;

namespace {

constexpr char kHeader[] = "@HD\tVN:1.6\n@SQ\tSN:t\tLN:1000\n";
constexpr char kAlignments[] =
    "a\t0\tt\t5\t60\t4=\t*\t0\t0\tACGT\tIJK!\n"
    "b\t16\tt\t5\t60\t4=\t*\t0\t0\tAACR\t!\"#$\n"   // reverse: YGTT, quality turned
    "b\t272\tt\t9\t0\t4=\t*\t0\t0\tAACR\t!\"#$\n"   // secondary
    "b\t2064\tt\t9\t0\t4=\t*\t0\t0\tAACR\t!\"#$\n"  // supplementary
    "c\t4\t*\t0\t0\t*\t*\t0\t0\tNNA\t*\n"
    "d\t4\t*\t0\t0\t*\t*\t0\t0\t*\t*\n";

const Reads kReads{
    {"a", "", "ACGT", "IJK!"}, {"b", "", "YGTT", "$#\"!"}, {"c", "", "NNA", ""}, {"d", "", "", ""}};

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Unaligned reads as a file that SamWriter makes.
std::string write_hts(const TempFolder& folder, const std::string& name, const Reads& reads) {
  io::SamWriter writer(folder.path(name), {}, "");
  for (const Read& read : reads) {
    io::SamRecord record;
    record.query_name = read.name;
    record.flag = 4;
    record.mapq = 0;
    record.sequence = read.sequence;
    record.quality = read.quality;
    writer.write(record);
  }
  writer.commit();
  return folder.path(name);
}

Reads nucleotide_reads(unsigned seed, std::size_t n) {
  Reads reads = random_reads(seed, n, 200, true);
  for (Read& read : reads) {
    read.comment.clear();
    if (read.quality == "*") read.quality.assign(1, 'I');  // SAM's sign for no quality
    for (char& c : read.sequence) c = "ACGTN"[static_cast<unsigned char>(c) % 5];
  }
  return reads;
}

}  // namespace

TEST_CASE("io.hts_input: primary reads of SAM as the sequencer gave them", "[io]") {
  const TempFolder folder;
  CHECK(read_all(folder.file("x", std::string(kHeader) + kAlignments)) == kReads);
  const std::string unmapped = "c\t4\t*\t0\t0\t*\t*\t0\t0\tNNA\t*\n";  // no header
  CHECK(read_all(folder.file("y", unmapped)) == Reads{kReads[2]});
  CHECK(read_all(folder.file("z", gzip(std::string(kHeader) + kAlignments)), 2) == kReads);
  CHECK(read_all(folder.file("b", bgzf(folder, std::string(kHeader) + kAlignments))) == kReads);
  CHECK(read_all(folder.file("h", kHeader)).empty());
}

TEST_CASE("io.hts_input: BAM and CRAM give back what was written", "[io]") {
  const TempFolder folder;
  const Reads reads = nucleotide_reads(2, 5000);
  const std::string name = GENERATE(as<std::string>(), "x.bam", "x.cram", "x.sam", "x.sam.gz");
  const std::string path = write_hts(folder, name, reads);
  for (const int n_threads : {1, 3}) CHECK(read_all(path, n_threads) == reads);
}

TEST_CASE("io.hts_input: a SAM line that is malformed is named", "[io]") {
  const TempFolder folder;
  const std::string path = folder.file("x", std::string(kHeader) + kAlignments + "e\t0\tt\tfive\n");
  CHECK(error_of(path) == "3 " + path +
                              ": record 7 (line 9): malformed; expected the eleven columns of SAM, "
                              "and a header that names the target");
}

TEST_CASE("io.hts_input: a BAM or CRAM file cut anywhere is an error", "[io]") {
  const TempFolder folder;
  const std::string name = GENERATE(as<std::string>(), "x.bam", "x.cram");
  const std::string whole = read_file(write_hts(folder, name, nucleotide_reads(3, 3000)));
  for (std::size_t n = 200; n < whole.size(); n += whole.size() / 23) {
    const std::string error = error_of(folder.file("cut", whole.substr(0, n)), 1 + n % 2);
    INFO(name << ": " << n << " of " << whole.size() << " bytes: " << error);
    CHECK(holds(error, "3 " + folder.path("cut") + ": "));
  }
  CHECK(holds(error_of(folder.file("cut", whole.substr(0, whole.size() - 28))), "3 "));
}
