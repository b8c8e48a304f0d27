#include "lib/core/error.hpp"
#include "lib/io/alignments/sam_writer.hpp"
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

void append_number(std::string& text, std::uint32_t number) {
  text.append(reinterpret_cast<const char*>(&number), sizeof(number));
}

// A record of BAM without CIGAR and tags. body: packed residues, then qualities.
std::string bam_record(const std::string& name, std::uint32_t flag, std::uint32_t n_residues,
                       const std::string& body) {
  std::string text;
  append_number(text, static_cast<std::uint32_t>(32 + name.size() + 1 + body.size()));
  append_number(text, ~0u);  // no target
  append_number(text, ~0u);
  append_number(text, static_cast<std::uint32_t>(name.size() + 1));
  append_number(text, flag << 16);
  append_number(text, n_residues);
  for (const std::uint32_t number : {~0u, ~0u, 0u}) append_number(text, number);
  return text + name + '\0' + body;
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

TEST_CASE("io.bam: primary reads as the sequencer gave them, past a long header", "[io]") {
  const TempFolder folder;
  std::string text("BAM\1", 4);
  append_number(text, 600000);  // longer than the window that the reader looks at
  text += std::string(600000, '\n');
  append_number(text, 1);
  append_number(text, 2);
  text += std::string("t\0", 2);
  append_number(text, 1000);
  text += bam_record("a", 0, 4, std::string("\x12\x48()*\0", 6));
  text += bam_record("b", 16, 4, std::string("\x11\x25", 2) + std::string("\0\1\2\3", 4));
  text += bam_record("b", 0x100, 0, "");
  text += bam_record("b", 0x800, 0, "");
  text += bam_record("c", 4, 3, std::string("\xff\x10", 2) + "\xff\xff\xff");
  text += bam_record("d", 4, 0, "");
  for (const int n_threads : {1, 3}) {
    CHECK(read_all(folder.file("plain", text), n_threads) == kReads);
    CHECK(read_all(folder.file("gzip", gzip(text)), n_threads) == kReads);
    CHECK(read_all(folder.file("bgzf", bgzf(folder, text)), n_threads) == kReads);
  }
}

TEST_CASE("io.bam: a record whose fields contradict its size is refused by number", "[io]") {
  const TempFolder folder;
  std::string header("BAM\1", 4);
  append_number(header, 0);
  append_number(header, 0);
  const std::string good = bam_record("a", 4, 0, "");
  const std::string path = folder.path("x");
  const auto error = [&](const std::string& records) {
    return error_of(folder.file("x", bgzf(folder, header + records)));
  };
  const std::string refused = "3 " + path + ": record 2: ";
  const std::string cut = refused + "ends inside the record; the file may be cut short";
  CHECK(error(good + good) == "no error");
  CHECK(error(good + good.substr(0, 3)) == cut);
  CHECK(error(good + good.substr(0, good.size() - 1)) == cut);
  std::string small = good;
  small[0] = 31;
  CHECK(error(good + small) == refused + "malformed: its size is out of range");
  CHECK(error(good + bam_record("a", 4, 9, "")) ==
        refused + "malformed: its fields do not fit into its size");
  CHECK(error(good + bam_record("", 4, 0, "")) == refused + "the name is empty");
  CHECK(holds(error_of(folder.file("h", header.substr(0, 10))),
              "3 " + folder.path("h") + ": the BAM header is malformed or cut short"));
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
