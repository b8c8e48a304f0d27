// The vector versions of the steps against the plain ones.
#include <algorithm>

#include "lib/core/complement.hpp"
#include "lib/qc/steps/adapter.hpp"
#include "lib/qc/steps/correct.hpp"
#include "lib/qc/steps/filter.hpp"
#include "lib/qc/steps/overlap.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/qc/random_text.hpp"

using namespace biogpu::qc;
using namespace biogpu::qc_test;

namespace {

std::string reversed(const std::string& sequence) {
  std::string out(sequence.rbegin(), sequence.rend());
  for (char& base : out) base = biogpu::complement_acgt(base);
  return out;
}

void add_errors(std::string& sequence, std::mt19937& random, unsigned one_in) {
  for (char& base : sequence)
    if (random() % one_in == 0) base = "ACGTNac"[random() % 7];
}

bool same(const Overlap& a, const Overlap& b) {
  return a.found == b.found && a.offset == b.offset && a.length == b.length && a.diff == b.diff;
}

}  // namespace

// Tables of all prefixes and suffixes, as fastp 1's own search has them.
TEST_CASE("qc.overlap: one base more in a mate", "[qc][property]") {
  const auto differ_with_gap = [](const std::string& more, const std::string& less, int n,
                                  int limit) {
    if (n < 2) return limit + 1;
    std::vector<int> left(static_cast<std::size_t>(n)), right(static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i) left[i] = (i > 0 ? left[i - 1] : 0) + (more[i] != less[i] ? 1 : 0);
    for (int i = n - 1; i >= 0; --i)
      right[i] = (i + 1 < n ? right[i + 1] : 0) + (more[i + 1] != less[i] ? 1 : 0);
    int best = limit + 1;
    for (int i = 1; i < n; ++i) {
      if (left[i - 1] + right[n - 1] > limit) return limit + 1;
      best = std::min(best, left[i - 1] + right[i]);
    }
    return best;
  };
  std::mt19937 random(23);
  int n_found = 0;
  int n_behind = 0;
  for (int round = 0; round < 6000; ++round) {
    std::string one = random_text(random, random() % 60, "ACGT");
    std::string other = one;
    if (!other.empty()) {
      const std::size_t at = other.size() - std::min<std::size_t>(other.size(), random() % 6);
      if (random() % 2 == 0)
        other.insert(at, 1, 'G');
      else
        other.erase(at, 1);
    }
    if (random() % 2 == 0)
      one = random_text(random, random() % 9, "ACGT") + one;
    else
      other = random_text(random, random() % 9, "ACGT") + other;
    add_errors(one, random, 30);
    if (random() % 2 == 0) std::swap(one, other);
    const OverlapRules rules{static_cast<int>(random() % 35), static_cast<int>(random() % 7),
                             static_cast<int>(random() % 60)};
    const auto length1 = static_cast<int>(one.size()), length2 = static_cast<int>(other.size());
    Overlap expected;
    const auto look = [&](int offset) {
      const std::string a = one.substr(static_cast<std::size_t>(std::max(0, offset)));
      const std::string b = other.substr(static_cast<std::size_t>(std::max(0, -offset)));
      const auto n = static_cast<int>(std::min(a.size(), b.size()));
      const int limit = max_differing(n, rules);
      if (expected.found || (differ_with_gap(a, b, n - 1, limit) > limit &&
                             differ_with_gap(b, a, n - 1, limit) > limit))
        return;
      expected = {true, offset, n, 0};
    };
    for (int offset = 0; offset < length1 - rules.require; ++offset) look(offset);
    for (int shift = 0; shift < length2 - rules.require; ++shift) look(-shift);
    INFO(one << " " << other << " " << rules.require << " " << rules.diff_limit);
    REQUIRE(same(find_overlap_with_gap(one, other, rules), expected));
    n_found += expected.found;
    n_behind += expected.offset < 0;
  }
  CHECK(n_found > 300);
  CHECK(n_behind > 30);
}

TEST_CASE("qc.overlap: the vector version finds what the plain one finds", "[qc][property]") {
  std::mt19937 random(11);
  int n_found = 0;
  for (int round = 0; round < 4000; ++round) {
    const std::size_t insert = random() % 330;
    const std::string fragment = random_text(random, insert + 1, "ACGT");
    const auto read = [&](const std::string& from) {
      std::string text = from + random_text(random, 200, "ACGT");
      text.resize(random() % 160);
      add_errors(text, random, round % 2 == 0 ? 200 : 12);
      return text;
    };
    const std::string mate1 = read(fragment);
    const std::string mate2 = read(reversed(fragment));
    const OverlapRules rules{round % 5 == 0 ? 5 : 30, static_cast<int>(random() % 12),
                             static_cast<int>(random() % 60)};
    std::string other(mate2.size() + kBehind, '?');
    reverse_complement(mate2.data(), static_cast<int>(mate2.size()), other.data());
    REQUIRE(other.substr(0, mate2.size()) == reversed(mate2));
    const std::string text1 = with_tail(mate1, random);
    const auto length1 = static_cast<int>(mate1.size());
    const auto length2 = static_cast<int>(mate2.size());
    const Overlap expected = find_overlap_ref(text1.data(), length1, other.data(), length2, rules);
    const Overlap found = find_overlap(text1.data(), length1, other.data(), length2, rules);
    INFO(mate1 << "\n" << mate2);
    REQUIRE(same(found, expected));
    n_found += found.found;
  }
  CHECK(n_found > 500);
}

TEST_CASE("qc.overlap: only the first 50 bases decide", "[qc]") {
  std::mt19937 random(5);
  const std::string fragment = random_text(random, 100, "ACGT");
  std::string damaged = fragment;
  for (std::size_t i = 50; i < 100; ++i) damaged[i] = biogpu::complement_acgt(damaged[i]);
  const std::string a = with_tail(fragment, random);
  const std::string b = with_tail(damaged, random);
  const Overlap overlap = find_overlap(a.data(), 100, b.data(), 100, {});
  CHECK(overlap.found);
  CHECK(overlap.length == 100);
  CHECK(overlap.diff == 50);
}

TEST_CASE("qc.overlap: an empty mate lies on its mate with length 0", "[qc]") {
  const std::string text = std::string(60, 'A') + std::string(kBehind, 'C');
  const Overlap overlap = find_overlap(text.data(), 60, text.data(), 0, {});
  CHECK(overlap.found);
  CHECK(overlap.length == 0);
}

TEST_CASE("qc.adapter: the vector version finds what the plain one finds", "[qc][property]") {
  std::mt19937 random(12);
  for (int round = 0; round < 4000; ++round) {
    const std::string adapter = random_text(random, 4 + random() % 60, "ACGT");
    std::string read = random_text(random, random() % 130, round % 3 == 0 ? "AC" : "ACGTN");
    if (round % 2 == 0) read += adapter.substr(random() % 5);
    read.resize(std::min<std::size_t>(read.size(), random() % 160));
    add_errors(read, random, 20);
    const std::string text = with_tail(read, random);
    const auto length = static_cast<int>(read.size());
    INFO(adapter << "\n" << read);
    for (const int require : {4, 5, 6})
      REQUIRE(find_adapter(text.data(), length, adapter, require) ==
              find_adapter_ref(text.data(), length, adapter, require));
  }
}

TEST_CASE("qc.adapter: one that begins before the read empties it", "[qc]") {
  std::string sequence = "CGGAAGAGCACACGTCTGAACTCCAGTCA" + std::string(kBehind, 'A');
  std::string quality(sequence.size(), 'I');
  Mate mate{sequence.data(), quality.data(), 29};
  CHECK(trim_adapter(mate, "AGATCGGAAGAGCACACGTCTGAACTCCAGTCA") == "AGATCGGAAGAGCACACGTCTGAACTCCA");
  CHECK(mate.length == 0);
}

TEST_CASE("qc.filter: the vector version counts what the plain one counts", "[qc][property]") {
  std::mt19937 random(13);
  for (std::size_t length = 0; length < 300; ++length) {
    const std::string sequence = with_tail(random_text(random, length, "ACGTN"), random);
    const std::string quality =
        with_tail(random_text(random, length, "!#,5?I~\x7f\x80\xff"), random);
    const auto n = static_cast<int>(length);
    const BaseCounts a = count_bases(sequence.data(), quality.data(), n, 15);
    const BaseCounts b = count_bases_ref(sequence.data(), quality.data(), n, 15);
    REQUIRE(a.low_quality == b.low_quality);
    REQUIRE(a.n_bases == b.n_bases);
    REQUIRE(a.quality_sum == b.quality_sum);
  }
}

TEST_CASE("qc.correct: a base of at most Q14 becomes its mate's of at least Q30", "[qc]") {
  struct Case {
    int quality1;
    int quality2;
    int changed;  // mate 0 or 1, -1: neither
  };
  for (const Case& c :
       {Case{30, 14, 1}, Case{29, 14, -1}, Case{30, 15, -1}, Case{14, 30, 0}, Case{14, 29, -1},
        Case{15, 30, -1}, Case{40, 2, 1}, Case{40, 40, -1}, Case{2, 2, -1}}) {
    CAPTURE(c.quality1, c.quality2);
    std::string sequence[2] = {"ACGTA", "TAGGT"};  // mate 2 lies on mate 1 as ACCTA
    std::string quality[2] = {"IIIII", "IIIII"};
    quality[0][2] = static_cast<char>(kPhredOffset + c.quality1);
    quality[1][2] = static_cast<char>(kPhredOffset + c.quality2);
    TrimmedRead reads[2];
    for (int m = 0; m < 2; ++m)
      reads[m].original = reads[m].mate = {sequence[m].data(), quality[m].data(), 5};
    std::vector<BaseChange> changes;
    find_corrections(reads[0], reads[1], {true, 0, 5, 1}, changes);
    CHECK(sequence[1] == "TAGGT");  // nothing is changed yet
    REQUIRE(changes.size() == (c.changed < 0 ? 0 : 1));
    if (c.changed < 0) continue;
    CHECK(static_cast<int>(changes[0].read) == c.changed);
    change_base(reads[c.changed].original, changes[0]);
    CHECK(sequence[c.changed] == (c.changed == 0 ? "ACCTA" : "TACGT"));
    CHECK(quality[0][2] == quality[1][2]);
    CHECK(quality[0][2] == kPhredOffset + std::max(c.quality1, c.quality2));
  }
}
