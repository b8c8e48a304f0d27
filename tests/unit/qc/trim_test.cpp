// Cutting as fastp 0.23.2 cuts: expected values were read off its output.
#include "lib/qc/steps/trim.hpp"

#include <string>

#include "lib/qc/steps/umi.hpp"
#include "tests/support/catch.hpp"

using namespace biogpu::qc;

namespace {

struct Read {
  std::string sequence;
  std::string quality;
  Mate mate;

  Read(std::string bases, std::string symbols)
      : sequence(std::move(bases)), quality(std::move(symbols)) {
    mate = {sequence.data(), quality.data(), static_cast<int>(sequence.size())};
  }
  explicit Read(const std::string& bases) : Read(bases, std::string(bases.size(), 'I')) {}
  std::string kept() const { return {mate.sequence, static_cast<std::size_t>(mate.length)}; }
};

Options cutting(bool front, bool tail, bool right) {
  Options options;
  options.cut_front.enabled = front;
  options.cut_tail.enabled = tail;
  options.cut_right.enabled = right;
  return options;
}

}  // namespace

TEST_CASE("qc.trim: fixed lengths come off both ends", "[qc]") {
  Read read("ACGTACGTAC");
  trim_and_cut(read.mate, {2, 3, 0}, {});
  CHECK(read.kept() == "GTACG");
  CHECK(read.mate.front_trimmed == 2);
}

TEST_CASE("qc.trim: more than the read holds drops it unchanged", "[qc]") {
  Read read("ACGTA");
  trim_and_cut(read.mate, {3, 3, 0}, {});
  CHECK(read.mate.dropped);
  CHECK(read.kept() == "ACGTA");
}

TEST_CASE("qc.trim: a front that is cut at all loses a window more", "[qc]") {
  Read read(std::string(40, 'A'));
  trim_and_cut(read.mate, {5, 0, 0}, cutting(true, false, false));
  CHECK(read.mate.length == 32);
  Read tail(std::string(40, 'A'));
  trim_and_cut(tail.mate, {0, 5, 0}, cutting(false, true, false));
  CHECK(tail.mate.length == 32);
}

TEST_CASE("qc.trim: windows of low quality go from either end", "[qc]") {
  const std::string bases = "TTTTAACCCCCCCCCCCCCCCCCCCCCCCCCCCCAATTTT";
  const std::string symbols = "/////CCCCCCCCCCCC////CCCCCCCCCCCCCC////E";
  Read read(bases, symbols);
  trim_and_cut(read.mate, {0, 1, 0}, cutting(true, true, false));
  CHECK(read.kept() == "CCCCCCCCCCCCCCCCCCCCCCCCCCCC");
}

TEST_CASE("qc.trim: the first bad window from the front ends the read", "[qc]") {
  Read read(std::string(30, 'C'), std::string(12, 'I') + std::string(18, '#'));
  trim_and_cut(read.mate, {}, cutting(false, false, true));
  CHECK(read.mate.length == 12);
}

TEST_CASE("qc.trim: of all full windows the last one is not looked at", "[qc]") {
  const std::string bases(20, 'C');
  Read last(bases, std::string(17, 'I') + std::string(3, '#'));
  trim_and_cut(last.mate, {}, cutting(false, false, true));
  CHECK(last.mate.length == 20);
  Read last_but_one(bases, std::string(16, 'I') + std::string(4, '#'));
  trim_and_cut(last_but_one.mate, {}, cutting(false, false, true));
  CHECK(last_but_one.mate.length == 16);
}

TEST_CASE("qc.trim: a poly-G tail tolerates one mismatch in eight", "[qc]") {
  Read read("ACTTACTCAT" + std::string(8, 'G') + "A" + std::string(8, 'G'));
  trim_poly_g(read.mate, 10);
  CHECK(read.kept() == "ACTTACTCAT");
  // The mismatches that are allowed count for the length of the tail.
  Read short_tail("ACTTACTCAT" + std::string(8, 'G'));
  trim_poly_g(short_tail.mate, 10);
  CHECK(short_tail.mate.length == 18);
}

TEST_CASE("qc.trim: a poly-X tail is cut at its first base and reported", "[qc]") {
  Read read("ATTTTAAAAAAAAAATAAAAAAAAAAAAACAAAAAAAAAAAAAAAAAAAAAAAAAT");
  const PolyX poly_x = trim_poly_x(read.mate, 10);
  CHECK(read.kept() == "ATTTT");
  CHECK(poly_x.base == 0);
  CHECK(poly_x.length == 51);
}

TEST_CASE("qc.trim: a read that is all one base is cut whole", "[qc]") {
  Read read(std::string(20, 'T'));
  CHECK(trim_poly_x(read.mate, 10).length == 20);
  CHECK(read.mate.length == 0);
}

TEST_CASE("qc.umi: indices are taken from the end of a name", "[qc]") {
  const std::string name = "@NS500713:64:HFKJJBGXY:1:11101:20469:1097 1:N:0:TATAGCCT+GGTCCCGA";
  CHECK(first_index(name) == "TATAGCCT");
  CHECK(last_index(name) == "GGTCCCGA");
  CHECK(first_index("@a:b").empty());
  std::string fixed;
  CHECK(fix_mgi_name("@read/1", fixed));
  CHECK(fixed == "@read /1");
}

TEST_CASE("qc.umi: a UMI moves from the read into the name", "[qc]") {
  Options options;
  options.umi_location = UmiLocation::read1;
  options.umi_length = 4;
  options.umi_skip = 2;
  options.umi_prefix.assign(1, 'U');
  Read read("ACGTTTGGGG");
  std::string name = "@r 1";
  apply_umi(read.mate, name, nullptr, nullptr, options);
  CHECK(name == "@r:U_ACGT 1");
  CHECK(read.kept() == "GGGG");
}
