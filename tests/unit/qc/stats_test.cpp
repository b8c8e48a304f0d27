#include "lib/qc/stats/read_stats.hpp"

#include <map>

#include "lib/qc/stats/text_counts.hpp"
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

// Against a map with fastp 1's rules: which texts are counted depends on their order.
TEST_CASE("qc.text_counts: as many texts as fastp 1 counts, in any cut into parts",
          "[qc][property]") {
  std::mt19937 random(77);
  std::vector<std::string> texts;
  for (int i = 0; i < 60000; ++i) {
    const int size = 4 + static_cast<int>(random() % 6);
    texts.push_back(random() % 3 == 0
                        ? std::string(static_cast<std::size_t>(size), 'A') +
                              random_text(random, 4, "AC")
                        : random_text(random, static_cast<std::size_t>(size), "ACGT"));
  }
  std::map<std::string, std::uint64_t> expected;
  for (const std::string& text : texts) {
    int n_changes = 0;
    for (std::size_t i = 1; i < text.size(); ++i) n_changes += text[i] != text[i - 1];
    const bool is_low = n_changes < static_cast<int>(text.size()) / 2;
    if (expected.count(text) == 0 &&
        (expected.size() > 20000 || (expected.size() > 5000 && is_low)))
      continue;
    ++expected[text];
  }
  CHECK(expected.size() == 20001);
  TextCounts counts;
  for (const std::string& text : texts) counts.add_bounded(text, 1);
  std::map<std::string, std::uint64_t> found;
  for (const auto& [text, n] : counts.list()) found[std::string(text)] = n;
  CHECK(found == expected);

  // Two workers with the same texts each, in parts of a run that know all of theirs.
  std::vector<std::vector<TextCounts>> parts(3);
  for (auto& part : parts) part.resize(2);
  for (std::size_t i = 0; i < texts.size(); ++i)
    for (TextCounts& worker : parts[3 * i / texts.size()]) worker.add(texts[i], 1);
  const CommonTexts both = bounded_texts({&parts[0], &parts[1], &parts[2]});
  CHECK(both.total == 2 * counts.total());
  CHECK(both.total_length == 2 * counts.total_length());
}
