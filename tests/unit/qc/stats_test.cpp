#include "lib/qc/stats/read_stats.hpp"

#include "tests/support/catch.hpp"
#include "tests/unit/qc/random_text.hpp"

using namespace biogpu::qc;
using namespace biogpu::qc_test;

namespace {

void require_equal(const ReadStats& a, const ReadStats& b) {
  REQUIRE(a.n_reads == b.n_reads);
  REQUIRE(a.n_bases == b.n_bases);
  REQUIRE(a.q20_bases == b.q20_bases);
  REQUIRE(a.q30_bases == b.q30_bases);
  REQUIRE(a.q40_bases == b.q40_bases);
  REQUIRE(a.kmers == b.kmers);
  REQUIRE(a.cycles.size() == b.cycles.size());
  for (std::size_t c = 0; c < a.cycles.size(); ++c) {
    INFO("cycle " << c);
    REQUIRE(a.cycles[c].bases == b.cycles[c].bases);
    REQUIRE(a.cycles[c].quality == b.cycles[c].quality);
    REQUIRE(a.cycles[c].all_bases == b.cycles[c].all_bases);
    REQUIRE(a.cycles[c].all_quality == b.cycles[c].all_quality);
  }
}

}  // namespace

TEST_CASE("qc.stats: the vector version adds up what the plain one does", "[qc][property]") {
  std::mt19937 random(21);
  StatsAdder fast;
  StatsAdder plain;
  for (std::size_t length = 0; length < 700; ++length) {
    const std::string_view letters = length % 3 == 0 ? "ACGT" : "ACGTNacgtnRU.";
    const std::string_view symbols = length % 17 == 0 ? " !#5?I~\x7f\x80" : "!#,05:?IK~";
    const std::string sequence = with_tail(random_text(random, length, letters), random);
    const std::string quality = with_tail(random_text(random, length, symbols), random);
    const auto n = static_cast<int>(length);
    const int from = length % 4 == 0 ? 0 : static_cast<int>(random() % (length + 1));
    fast.count_read();
    plain.count_read();
    fast.add(sequence.data(), quality.data(), n, from);
    plain.add_ref(sequence.data(), quality.data(), n, from);
  }
  require_equal(fast.take(), plain.take());
}

TEST_CASE("qc.stats: a read added in two parts counts as one", "[qc]") {
  std::mt19937 random(22);
  StatsAdder whole;
  StatsAdder parts;
  for (int round = 0; round < 600; ++round) {
    const std::string sequence = with_tail(random_text(random, 150, "ACGTN"), random);
    const std::string quality = with_tail(random_text(random, 150, "!5?I"), random);
    const int cut = static_cast<int>(random() % 151);
    whole.add(sequence.data(), quality.data(), 150);
    parts.add(sequence.data(), quality.data(), cut);
    parts.add(sequence.data(), quality.data(), 150, cut);
  }
  require_equal(whole.take(), parts.take());
}

TEST_CASE("qc.stats: sums of several adders go together", "[qc]") {
  const std::string sequence = "ACGTN" + std::string(kBehind, 'A');
  const std::string quality = "!5?IK" + std::string(kBehind, 'I');
  StatsAdder adder;
  adder.count_read();
  adder.add(sequence.data(), quality.data(), 5);
  ReadStats sum = adder.take();
  sum.add(sum);
  CHECK(sum.n_reads == 2);
  CHECK(sum.q20_bases == 8);
  CHECK(sum.q30_bases == 6);
  CHECK(sum.gc_bases() == 4);
  CHECK(sum.cycles[1].bases[2] == 2);
}
