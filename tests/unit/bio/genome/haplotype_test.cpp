#include "lib/bio/genome/haplotype_set.hpp"

#include <algorithm>
#include <filesystem>
#include <random>

#include "tests/support/catch.hpp"
#include "tests/unit/bio/genome/error_text.hpp"
#include "tests/unit/bio/genome/vcf_files.hpp"
#include "tests/unit/io/files.hpp"

using namespace biogpu;
using namespace biogpu::genome;
using test::error_text;
using test::vcf_text;

namespace {

std::vector<LetterCode> codes_of(const std::string& text) {
  std::vector<LetterCode> codes(text.size());
  encode_letters(text, codes.data());
  return codes;
}

Edit edit(std::int64_t position, const std::string& ref, const std::string& alt) {
  return make_edit(position, codes_of(ref), codes_of(alt));
}

std::string window_with(const IndexedFasta& genome, const Window& window,
                        const std::vector<Edit>& edits, std::int64_t anchor) {
  std::vector<LetterCode> codes(static_cast<std::size_t>(window.size()), 77);
  build_haplotype(genome, window, edits, anchor, codes);
  return decode_letters(codes);
}

// The same from the whole contig with all edits: letters go by one, and the anchor is counted.
std::string slow_window(const std::string& sequence, const Window& window,
                        const std::vector<Edit>& edits, std::int64_t anchor) {
  constexpr std::int64_t kAround = 1000;
  std::string haplotype;
  std::int64_t anchor_at = -1;
  std::int64_t at = -kAround;
  const auto copy_to = [&](std::int64_t end) {
    for (; at < end; ++at) {
      if (at == anchor) anchor_at = std::ssize(haplotype);
      haplotype +=
          at < 0 || at >= std::ssize(sequence) ? 'N' : sequence[static_cast<std::size_t>(at)];
    }
  };
  for (const Edit& e : edits) {
    copy_to(e.begin);
    const bool holds_anchor = e.begin <= anchor && (anchor < e.end || e.begin == anchor);
    if (holds_anchor) {  // its first letter stays where it is
      anchor = e.begin;
      anchor_at = std::ssize(haplotype);
    }
    haplotype += decode_letters(e.letters);
    if (holds_anchor && e.end == e.begin) {
      haplotype += at < std::ssize(sequence) ? sequence[static_cast<std::size_t>(at)] : 'N';
      ++at;
    }
    at = std::max(at, e.end);
  }
  copy_to(std::ssize(sequence) + kAround);
  return haplotype.substr(static_cast<std::size_t>(anchor_at - (anchor - window.begin)),
                          static_cast<std::size_t>(window.size()));
}

std::string random_text(std::mt19937& random, std::size_t n) {
  std::string text(n, 'A');
  for (char& c : text) c = "ACGT"[random() % 4];
  return text;
}

// Sorted edits without overlaps that change a sequence all over.
std::vector<Edit> random_edits(std::mt19937& random, const std::string& sequence) {
  std::vector<Edit> edits;
  std::int64_t at = 0;
  for (;;) {
    at += static_cast<std::int64_t>(random() % 12);
    const std::size_t n_ref = random() % 3 == 0 ? random() % 9 : random() % 2;
    const std::size_t n_alt = random() % 3 == 0 ? random() % 9 : random() % 2;
    const auto end = at + static_cast<std::int64_t>(n_ref);
    if (end > std::ssize(sequence)) return edits;
    if (n_ref + n_alt > 0) edits.push_back({at, end, codes_of(random_text(random, n_alt))});
    at = end + 1;
  }
}

}  // namespace

TEST_CASE("genome.haplotype: edits are what REF and ALT do not share", "[genome]") {
  CHECK(edit(10, "A", "G") == Edit{10, 11, {2}});
  CHECK(edit(10, "A", "AGG") == Edit{11, 11, {2, 2}});
  CHECK(edit(10, "ACC", "A") == Edit{11, 13, {}});
  CHECK(edit(10, "ACGT", "ATGT") == Edit{11, 12, {3}});
  CHECK(edit(10, "AAA", "AA") == Edit{12, 13, {}});
  CHECK(edit(10, "AC", "GT") == Edit{10, 12, {2, 3}});
  CHECK(edit(10, "A", "A") == Edit{11, 11, {}});
}

TEST_CASE("genome.haplotype: one variant is anchored and extended on the right", "[genome]") {
  const test::TempFolder folder;
  //                                      0123456789
  const IndexedFasta genome(folder.file("g.fa", ">c\nACGTTGCAAC\n"));
  const auto alternate = [&](std::int64_t position, const std::string& ref, const std::string& alt,
                             std::int64_t length, std::int64_t shift) {
    Variant variant;
    variant.position = position;
    variant.ref_codes = codes_of(ref);
    variant.alts = {{alt, AlleleKind::letters, codes_of(alt)}};
    std::vector<LetterCode> codes(static_cast<std::size_t>(length));
    build_alternate(genome, shifted(variant_window(variant, length), shift), variant, 0, codes);
    return decode_letters(codes);
  };
  CHECK(alternate(4, "T", "A", 4, 0) == "GTAG");    // GTTG
  CHECK(alternate(4, "T", "TCC", 4, 0) == "GTTC");  // the inserted letters, then the edge
  CHECK(alternate(4, "T", "TCC", 6, 0) == "CGTTCC");
  CHECK(alternate(4, "TGC", "T", 6, 0) == "CGTTAA");  // AA comes in from the right
  CHECK(alternate(4, "TGC", "T", 6, 2) == "TTAACN");
  CHECK(alternate(4, "TGC", "T", 6, -3) == "NNACGT");  // the deletion lies behind the window
  CHECK(alternate(0, "A", "G", 6, 0) == "NNNGCG");
  CHECK(alternate(9, "C", "CAAAA", 4, 0) == "AACA");
}

TEST_CASE("genome.haplotype: windows equal those of the whole haplotype", "[genome]") {
  const test::TempFolder folder;
  std::mt19937 random(7);
  std::size_t n_compared = 0;
  for (int round = 0; round < 200; ++round) {
    const std::string sequence = random_text(random, 60 + random() % 60);
    std::filesystem::remove(folder.path("g.fa.fai"));
    const IndexedFasta genome(folder.file("g.fa", ">c\n" + sequence + "\n"));
    const std::vector<Edit> edits = random_edits(random, sequence);
    for (int i = 0; i < 40; ++i) {
      const auto n = static_cast<std::int64_t>(sequence.size());
      const auto begin = static_cast<std::int64_t>(random() % 140) - 30;
      const Window window{"", 0, begin, begin + static_cast<std::int64_t>(random() % 50)};
      const auto anchor =
          std::clamp<std::int64_t>(static_cast<std::int64_t>(random() % 150) - 10, 0, n - 1);
      INFO(sequence << " " << begin << " " << window.size() << " " << anchor);
      REQUIRE(window_with(genome, window, edits, anchor) ==
              slow_window(sequence, window, edits, anchor));
      ++n_compared;
    }
  }
  CHECK(n_compared == 8000);
}

TEST_CASE("genome.haplotype: haplotypes of samples", "[genome]") {
  const test::TempFolder folder;
  //                                          1234567890123456
  const IndexedFasta genome(folder.file("g.fa", ">chr1\nACGTACGTACGTACGT\n>chr2\nGGGG\n"));
  const std::string text = vcf_text(
      {"s1", "s2"},
      {"chr1\t2\t.\tC\tG,T\t.\t.\t.\tGT\t1|2\t0|0", "chr1\t4\t.\tT\tTAA\t.\t.\t.\tGT\t0|1\t1|0",
       "chr1\t6\t.\tCGT\tC,*\t.\t.\t.\tGT\t1|0\t1|2", "chr1\t7\t.\tG\tA\t.\t.\t.\tGT\t1|1\t0|1",
       "chr2\t1\t.\tG\tC\t.\t.\t.\tGT\t1\t0"});
  VariantReader reader(folder.file("a.vcf", text), genome,
                       {io::BadRecords::refuse, {"s1", "s2"}, false});
  const HaplotypeSet haplotypes(reader, UnphasedGenotypes::refuse);
  const auto letters = [&](const Window& window, std::size_t sample, std::size_t haplotype) {
    std::vector<LetterCode> codes(static_cast<std::size_t>(window.size()));
    haplotypes.build(window, sample, haplotype, codes);
    return decode_letters(codes);
  };
  CHECK(haplotypes.n_haplotypes(0) == 2);
  const Window whole{"", 0, 0, 16};                   // its centre is letter 9
  CHECK(letters(whole, 0, 0) == "NNAGGTACACGTACGT");  // CGT at 6 became C; A at 7 overlaps it
  CHECK(letters(whole, 0, 1) == "GTAAACATACGTACGT");
  CHECK(letters(whole, 1, 1) == "ACGTACATACGTACGT");
  CHECK(letters({"", 1, 0, 4}, 0, 0) == "CGGG");
  CHECK(letters({"", 1, 0, 4}, 0, 1) == "GGGG");
  CHECK(letters({"", 1, 0, 4}, 1, 0) == "GGGG");
  CHECK(haplotypes.counts().overlapping == 1);
  CHECK(haplotypes.counts().applied == 9);
}

TEST_CASE("genome.haplotype: an allele of two records is applied once", "[genome]") {
  const test::TempFolder folder;
  const IndexedFasta genome(folder.file("g.fa", ">chr1\nACGTACGTACGT\n"));
  // The second and the third change the same letters as the first; the fourth others there.
  const std::string path = folder.file(
      "a.vcf",
      vcf_text({"s"},
               {"chr1\t4\t.\tT\tG\t.\t.\t.\tGT\t1|1", "chr1\t4\t.\tT\tG\t.\t.\t.\tGT\t1|0",
                "chr1\t3\t.\tGT\tGG\t.\t.\t.\tGT\t0|1", "chr1\t4\t.\tT\tC\t.\t.\t.\tGT\t0|1"}));
  VariantReader reader(path, genome, {io::BadRecords::refuse, {"s"}, false});
  const HaplotypeSet set(reader, UnphasedGenotypes::refuse);
  CHECK(set.counts().applied == 2);
  CHECK(set.counts().overlapping == 1);
  CHECK(set.edits_in({"", 0, 0, 12}, 0, 0) == std::vector{edit(3, "T", "G")});
  CHECK(set.edits_in({"", 0, 0, 12}, 0, 1) == std::vector{edit(3, "T", "G")});
}

TEST_CASE("genome.haplotype: an edit that is not applied takes no other's place", "[genome]") {
  const test::TempFolder folder;
  //                                          1234567890123456
  const IndexedFasta genome(folder.file("g.fa", ">chr1\nACGTACGTACGTACGT\n"));
  const auto edits_of = [&](const std::vector<std::string>& lines) {
    std::vector<std::string> whole;
    for (const std::string& line : lines) whole.push_back(line + "\t.\t.\t.\tGT\t1");
    VariantReader reader(folder.file("a.vcf", vcf_text({"s"}, whole)), genome,
                         {io::BadRecords::refuse, {"s"}, false});
    const HaplotypeSet set(reader, UnphasedGenotypes::refuse);
    CHECK(set.counts().applied + set.counts().overlapping == lines.size());
    return set.edits_in({"", 0, 0, 16}, 0, 0);
  };
  // Unnormalised: letters of REF that do not change make edits begin in another order than records.
  // The second, 3 to 8, loses to the first, 7; the third, 4, overlaps the second alone.
  CHECK(edits_of({"chr1\t2\t.\tCGTACGT\tCGTACGC", "chr1\t3\t.\tGTACGT\tCCAA",
                  "chr1\t5\t.\tA\tT"}) == std::vector{edit(4, "A", "T"), edit(7, "T", "C")});
  // In the order of places, the first two overlap, and the second and the third.
  CHECK(edits_of({"chr1\t2\t.\tCGT\tTAA", "chr1\t4\t.\tTAC\tAGG", "chr1\t6\t.\tCG\tAA"}) ==
        std::vector{edit(1, "CGT", "TAA"), edit(5, "CG", "AA")});
  CHECK(edits_of({"chr1\t3\t.\tG\tA", "chr1\t3\t.\tG\tT", "chr1\t3\t.\tG\tGA"}) ==
        std::vector{edit(2, "G", "A"), edit(2, "G", "GA")});
}

TEST_CASE("genome.haplotype: genotypes without phase", "[genome]") {
  const test::TempFolder folder;
  const IndexedFasta genome(folder.file("g.fa", ">chr1\nACGTACGT\n"));
  const auto read = [&](const std::string& genotype, UnphasedGenotypes policy) {
    const std::string path =
        folder.file("a.vcf", vcf_text({"s"}, {"chr1\t2\t.\tC\tG\t.\t.\t.\tGT\t" + genotype}));
    VariantReader reader(path, genome, {io::BadRecords::refuse, {"s"}, false});
    return HaplotypeSet(reader, policy).counts();
  };
  CHECK_THAT(
      error_text([&] { read("0/1", UnphasedGenotypes::refuse); }),
      ContainsSubstring("a.vcf: record 1 (chr1:2): the genotype of 's' has no phase; expected"));
  CHECK_THAT(error_text([&] { read(".|1", UnphasedGenotypes::refuse); }),
             ContainsSubstring("the genotype of 's' is missing"));
  CHECK(read("0/1", UnphasedGenotypes::skip).unphased == 1);
  CHECK(read("./.", UnphasedGenotypes::skip).missing == 1);
  CHECK(read("1/1", UnphasedGenotypes::refuse).applied == 2);
  CHECK(read("1", UnphasedGenotypes::refuse).applied == 1);
}

TEST_CASE("genome.haplotype: genotypes without phase are counted in a part of the records",
          "[genome]") {
  const test::TempFolder folder;
  const IndexedFasta genome(folder.file("g.fa", ">chr1\nACGTACGT\n"));
  std::vector<std::string> lines;
  for (const std::string genotype : {"0/1", "1|1", "./.", "0/1"})
    lines.push_back("chr1\t" + std::to_string(lines.size() + 1) + "\t.\t" + "ACGT"[lines.size()] +
                    "\t" + "CGTA"[lines.size()] + "\t.\t.\t.\tGT\t" + genotype);
  const std::string path = folder.file("a.vcf", vcf_text({"s"}, lines));
  const auto counts = [&](io::RecordRange counted) {
    VariantReader reader(path, genome, {io::BadRecords::refuse, {"s"}, false});
    return HaplotypeSet(reader, UnphasedGenotypes::skip, counted).counts();
  };
  CHECK(counts({}).unphased == 2);
  CHECK(counts({}).missing == 1);
  CHECK(counts({0, 1}).unphased == 1);
  CHECK(counts({0, 2}).missing == 0);
  CHECK(counts({1, 2}).unphased == 0);
  CHECK(counts({2, 4}).unphased == 1);
  CHECK(counts({2, 4}).missing == 1);
  CHECK(counts({1, 2}).applied == 2);
}

TEST_CASE("genome.haplotype: a set gives the edits that its windows need", "[genome]") {
  const test::TempFolder folder;
  std::mt19937 random(11);
  for (int round = 0; round < 40; ++round) {
    const std::string sequence = random_text(random, 120);
    std::filesystem::remove(folder.path("g.fa.fai"));
    const IndexedFasta genome(folder.file("g.fa", ">chr1\n" + sequence + "\n"));
    std::vector<std::string> lines;
    std::vector<Edit> edits;
    for (std::size_t at = 0; at + 12 < sequence.size(); at += 2 + random() % 12) {
      const std::size_t n_ref = 1 + (random() % 2) * (random() % 10);
      const std::string ref = sequence.substr(at, n_ref);
      const std::string alt =
          ref.substr(0, 1) + random_text(random, (random() % 2) * (random() % 10));
      if (alt == ref) continue;
      lines.push_back("chr1\t" + std::to_string(at + 1) + "\t.\t" + ref + "\t" + alt +
                      "\t.\t.\t.\tGT\t0|1");
      edits.push_back(edit(static_cast<std::int64_t>(at), ref, alt));
      at += n_ref;
    }
    VariantReader reader(folder.file("a.vcf", vcf_text({"s"}, lines)), genome,
                         {io::BadRecords::refuse, {"s"}, false});
    const HaplotypeSet haplotypes(reader, UnphasedGenotypes::refuse);
    REQUIRE(haplotypes.counts().overlapping == 0);
    for (std::int64_t begin = -10; begin < 120; begin += 3)
      for (const std::int64_t size : {1, 2, 17, 40}) {
        const Window window{"", 0, begin, begin + size};
        std::vector<LetterCode> codes(static_cast<std::size_t>(size));
        haplotypes.build(window, 0, 1, codes);
        INFO(sequence << " " << begin << " " << size);
        REQUIRE(decode_letters(codes) == window_with(genome, window, edits, window.centre()));
        haplotypes.build(window, 0, 0, codes);
        REQUIRE(decode_letters(codes) == window_with(genome, window, {}, window.centre()));
      }
  }
}
