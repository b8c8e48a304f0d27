#include "lib/bio/genome/variant_reader.hpp"

#include <htslib/vcf.h>

#include "tests/support/catch.hpp"
#include "tests/unit/bio/genome/error_text.hpp"
#include "tests/unit/bio/genome/vcf_files.hpp"
#include "tests/unit/io/files.hpp"

using namespace biogpu;
using namespace biogpu::genome;
using test::error_text;
using test::vcf_text;

namespace {

//                                1234567890123456
const char* const kGenome = ">chr1\nACGTACGTACGTACGT\n>chr2\nNNRTacgt\n";

std::string show(const Variant& v) {
  std::string text = std::to_string(v.record) + " " + std::to_string(v.contig) + " " +
                     std::to_string(v.position) + " " + v.id + " " + v.ref;
  for (const AltAllele& alt : v.alts)
    text += (alt.kind == AlleleKind::letters ? " " : " -") + alt.text;
  for (const Genotype& genotype : v.genotypes) {
    text += genotype.phased ? " |" : " /";
    for (const int allele : genotype.alleles) text += std::to_string(allele);
  }
  return text;
}

using Found = std::vector<std::string>;

Found read_all(const std::string& path, const IndexedFasta& genome,
               const VariantReaderOptions& options = {}, VariantCounts* counts = nullptr) {
  VariantReader reader(path, genome, options);
  Found found;
  for (Variant variant; reader.next(variant);) found.push_back(show(variant));
  if (counts != nullptr) *counts = reader.counts();
  return found;
}

}  // namespace

TEST_CASE("genome.variants: VCF, compressed VCF and BCF give the same", "[genome]") {
  const test::TempFolder folder;
  const IndexedFasta genome(folder.file("g.fa", kGenome));
  const std::string text =
      vcf_text({}, {"chr1\t2\trs1\tC\tG", "chr1\t3\t.\tGT\tG,GTAA,c", "chr1\t4\t.\tT\t.",
                    "chr1\t5\t.\ta\t*,T", "chr2\t3\t.\tAT\tA", "chr2\t5\t.\tA\tT,<*>"});
  const Found expected = {"1 0 1 rs1 C G", "2 0 2 . GT G GTAA c", "4 0 4 . a -* T", "5 1 2 . AT A",
                          "6 1 4 . A T -<*>"};
  VariantCounts counts;
  CHECK(read_all(folder.file("a.vcf", text), genome, {}, &counts) == expected);
  CHECK(counts.records == 6);
  CHECK(counts.given_out == 5);
  CHECK(counts.no_alternate == 1);
  CHECK(counts.skipped() == 0);
  CHECK(read_all(folder.file("a.vcf.gz", test::bgzf(folder, text)), genome) == expected);
  CHECK(read_all(folder.file("b.vcf.gz", test::gzip(text)), genome) == expected);
  CHECK(read_all(test::to_bcf(folder, text), genome) == expected);
  CHECK(read_all(folder.file("empty.vcf", ""), genome).empty());
  CHECK(read_all(folder.file("head.vcf", vcf_text({}, {})), genome).empty());
}

TEST_CASE("genome.variants: what cannot be applied is refused by name, or counted", "[genome]") {
  const test::TempFolder folder;
  const IndexedFasta genome(folder.file("g.fa", kGenome));
  const auto check = [&](const std::string& line, const std::string& error,
                         std::uint64_t VariantCounts::*count, const Found& rest) {
    const std::string path =
        folder.file("a.vcf", vcf_text({}, {"chr1\t1\t.\tA\tG", line, "chr1\t9\t.\tA\tG"}));
    CHECK_THAT(error_text([&] { read_all(path, genome); }),
               ContainsSubstring("3 " + path + ": record 2 (") && ContainsSubstring(error));
    VariantCounts counts;
    Found expected = rest;
    expected.insert(expected.begin(), "1 0 0 . A G");
    expected.push_back("3 0 8 . A G");
    CHECK(read_all(path, genome, {io::BadRecords::skip, {}, false}, &counts) == expected);
    CHECK(counts.*count == 1);
    CHECK(counts.skipped() == 1);
  };
  check("chr1\t2\t.\tC\t<DEL>", "(chr1:2): ALT '<DEL>' is symbolic", &VariantCounts::symbolic, {});
  check("chr1\t2\t.\tC\tG,<INS:ME>", "ALT '<INS:ME>' is symbolic", &VariantCounts::symbolic,
        {"2 0 1 . C G -<INS:ME>"});
  check("chr1\t2\t.\tC\tC[chr2:5[", "ALT 'C[chr2:5[' is symbolic", &VariantCounts::symbolic, {});
  check("chr1\t2\t.\tGG\tG", "REF 'GG' disagrees with " + genome.path() + ", which has 'CG'",
        &VariantCounts::other_ref, {});
  check("chr1\t2\t.\tN\tG", "REF 'N' disagrees", &VariantCounts::other_ref, {});
  check("chr2\t3\t.\tC\tG", "REF 'C' disagrees with " + genome.path() + ", which has 'R'",
        &VariantCounts::other_ref, {});
  check("chr1\t16\t.\tTT\tT", "REF 'TT' goes on behind the 16 letters of 'chr1'",
        &VariantCounts::outside, {});
  check("chr1\t0\t.\tA\tT", "(chr1:0): POS 0; 'chr1' has the letters 1 to 16",
        &VariantCounts::outside, {});
  check("chr1\t17\t.\tA\tT", "POS 17; 'chr1' has the letters 1 to 16", &VariantCounts::outside, {});
  check("chr1\t2\t.\tC\t-", "ALT '-'; expected letters of DNA: a deletion has",
        &VariantCounts::symbolic, {});
  check("2\t5\t.\tA\tT", "has no sequence '2'; it has chr1, chr2; '2' may be what it calls 'chr2'",
        &VariantCounts::unknown_contig, {});
  check("chrM\t2\t.\tA\tT", "(chrM:2): " + genome.path() + " has no sequence 'chrM'",
        &VariantCounts::unknown_contig, {});
}

TEST_CASE("genome.variants: files that are malformed", "[genome]") {
  const test::TempFolder folder;
  const IndexedFasta genome(folder.file("g.fa", kGenome));
  const auto error_of = [&](const std::string& text) {
    const std::string path = folder.file("a.vcf", text);
    const std::string error = error_text([&] {
      read_all(path, genome, {io::BadRecords::skip, {}, false});
    });
    CHECK(error.find(path) != error.npos);
    return error;
  };
  CHECK_THAT(error_of("chr1\t2\t.\tC\tG\n"), ContainsSubstring("expected VCF or BCF"));
  CHECK_THAT(error_of("##fileformat=VCFv4.2\n"), ContainsSubstring("the header is malformed"));
  CHECK_THAT(error_of("##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\nchr1\t2\t.\tC\tG\n"),
             ContainsSubstring("its last line is '#CHROM\\x09POS"));
  CHECK_THAT(error_of(vcf_text({}, {"chr1\t2\t.\tC\tG", "chr1\t2"})),
             ContainsSubstring("record 2 (chr1:2): 2 columns; expected CHROM to INFO"));
  CHECK_THAT(error_of(vcf_text({"s"}, {"chr1\t2\t.\tC\tG\t.\t.\t.\tGT\t0|1\t1|1"})),
             ContainsSubstring("11 columns; the header has 10, of 1 samples"));
  // An empty allele would become '.'.
  for (const char* const alts : {",G", "G,", "G,,T", ""})
    CHECK_THAT(error_of(vcf_text({}, {"chr1\t2\t.\tC\t" + std::string(alts) + "\t.\t.\t."})),
               ContainsSubstring("record 1 (chr1:2): ALT '" + std::string(alts) + "'; expected"));
  CHECK_THAT(error_of(vcf_text({}, {"c,1\t2\t.\tC\tG"})),
             ContainsSubstring("record 1: the name of its sequence or of a tag has characters"));
  // What htslib would end the program at, or ask a server for.
  for (const char* const head : {"\xfd"
                                 "7zXZ",
                                 "BZh9", "\x28\xb5\x2f\xfd", "{\"htsget\": {}}"})
    CHECK_THAT(error_of(std::string(head) + std::string(40, '\0')),
               ContainsSubstring("is compressed with") || ContainsSubstring("expected VCF or BCF"));
  CHECK_THAT(error_of(vcf_text({}, {"chr1\t2\t.\tC-\tG"})),
             ContainsSubstring("REF 'C-'; expected A, C"));
  std::string large = vcf_text({}, {"chr1\t2\t.\tC\tG"});
  large.insert(large.find("##FORMAT"),
               "##INFO=<ID=X,Number=1,Type=Float,Description=\"\",IDX=\"1000000\">\n");
  CHECK_THAT(error_of(large), ContainsSubstring("a.vcf: line 3 of the header: IDX is too large"));
  for (const char* rest :
       {"<ID=X, IDX = 1000000>", "<IDX=+12345678,ID=X>", "<ID=\"X\";IDX=1000000>"})
    CHECK_THAT(error_of(vcf_text({}, {}).insert(21, "##x=" + std::string(rest) + "\n")),
               ContainsSubstring("a.vcf: line 2 of the header: IDX is too large"));
  std::string cut = vcf_text({}, {"chr1\t2\t.\tC\tG"});
  cut.pop_back();
  const std::string packed = test::bgzf(folder, cut);
  CHECK_THAT(error_of(packed.substr(0, packed.size() - 28)),
             ContainsSubstring("ends inside a line and without BGZF's end marker"));
  CHECK(error_text([&] {
          read_all("/nonexistent.vcf", genome);
        }).starts_with("1 /nonexistent.vcf: cannot be opened"));
}

TEST_CASE("genome.variants: a text that only begins as a number is no number", "[genome]") {
  const test::TempFolder folder;
  const IndexedFasta genome(folder.file("g.fa", kGenome));
  // Each is 5, where the genome has A, to a parser that stops at what it does not know.
  for (const char* const text :
       {"5e0", "5.0", "5,", "5x", "+5", " 5", "5 ", "0x5", "-5", ".", ""}) {
    const std::string path = folder.file(
        "a.vcf",
        vcf_text({}, {"chr1\t1\t.\tA\tG", "chr1\t" + std::string(text) + "\t.\tA\tG\t.\t.\t."}));
    CHECK_THAT(error_text([&] { read_all(path, genome); }),
               ContainsSubstring("3 " + path + ": record 2 (chr1:") &&
                   ContainsSubstring("POS '" + std::string(text) + "'; expected a whole number"));
  }
  for (const char* const gt : {"0|1x", "a|1", "0|", "|1", "0||1", "0|1.5", "1e0|0", "0|-1", ""}) {
    const std::string path = folder.file(
        "a.vcf", vcf_text({"s", "t"}, {"chr1\t1\t.\tA\tG\t.\t.\t.\tGT\t0|1\t" + std::string(gt)}));
    CHECK_THAT(error_text([&] {
                 read_all(path, genome, {io::BadRecords::skip, {"s"}, false});
               }),
               ContainsSubstring("record 1 (chr1:1): GT '" + std::string(gt) + "'"));
    // Genotypes that nothing is taken of do not matter.
    CHECK(read_all(path, genome).size() == 1);
  }
  const auto error_of = [&](const std::string& rest) {
    std::string text = vcf_text({"s"}, {"chr1\t1\t.\tA\tG\t" + rest});
    text.insert(text.find("##FORMAT"), "##INFO=<ID=AF,Number=A,Type=Float,Description=\"\">\n");
    const std::string path = folder.file("a.vcf", text);
    CHECK(read_all(path, genome).size() == 1);
    return error_text([&] { read_all(path, genome, {io::BadRecords::skip, {}, true}); });
  };
  CHECK_THAT(error_of(".\t.\t=4\tGT\t0|1"), ContainsSubstring("INFO '=4'; expected TAG=VALUE"));
  CHECK_THAT(error_of("7q\t.\t.\tGT\t0|1"), ContainsSubstring("QUAL '7q'; expected a number"));
  CHECK_THAT(error_of(".\t.\tAC=3,2b\tGT\t0|1"), ContainsSubstring("INFO/AC '2b'"));
  CHECK_THAT(error_of(".\t.\tAC=4000000000\tGT\t0|1"),
             ContainsSubstring("INFO/AC '4000000000'; VCF's integers have 32 bits"));
  CHECK_THAT(error_of(".\t.\tAF=0.1.2\tGT\t0|1"), ContainsSubstring("INFO/AF '0.1.2'"));
  CHECK_THAT(error_of(".\t.\tAF=0x1p2\tGT\t0|1"), ContainsSubstring("INFO/AF '0x1p2'"));
  CHECK_THAT(error_of(".\t.\t.\tGT:DP\t0|1:3.5"), ContainsSubstring("FORMAT/DP '3.5'"));
  for (const char* const rest :
       {"+7.5e1\tq\tAC=-3,.;AF=+.5e-3;DB;X=1;;\tGT:DP\t.|.:.", "inf\t.\tAF=nan,-INF\tDP\t-1"})
    CHECK(error_of(rest) == "no error");
}

TEST_CASE("genome.variants: a byte order mark and blank lines are no text", "[genome]") {
  const test::TempFolder folder;
  const IndexedFasta genome(folder.file("g.fa", kGenome));
  std::string text = vcf_text({}, {"chr1\t2\t.\tC\tG", "", "chr1\t5\t.\tA\tG", ""});
  const Found expected = {"1 0 1 . C G", "2 0 4 . A G"};
  CHECK(read_all(folder.file("a.vcf", text), genome) == expected);
  text = "\xef\xbb\xbf" + text;
  CHECK(read_all(folder.file("a.vcf", text), genome) == expected);
  CHECK(read_all(folder.file("a.vcf.gz", test::gzip(text)), genome) == expected);
  CHECK(read_all(folder.file("a.vcf.gz", test::bgzf(folder, text)), genome) == expected);
}

TEST_CASE("genome.variants: a letter of ambiguity agrees with its bases and N", "[genome]") {
  const test::TempFolder folder;
  const IndexedFasta genome(folder.file("g.fa", ">a\nYknB\n"));
  const auto agrees = [&](int position, const char* ref) {
    const std::string path = folder.file(
        "a.vcf", vcf_text({}, {"a\t" + std::to_string(position) + "\t.\t" + ref + "\tTTT"}));
    return read_all(path, genome, {io::BadRecords::skip, {}, false}).size() == 1;
  };
  std::string found;
  for (int position = 1; position <= 4; ++position)
    for (const char* const ref : {"A", "C", "g", "T", "N", "y", "K", "B", "R"})
      if (agrees(position, ref)) found += std::to_string(position) + ref + " ";
  CHECK(found == "1C 1T 1N 1y 2g 2T 2N 2K 3A 3C 3g 3T 3N 3y 3K 3B 3R 4C 4g 4T 4N 4B ");
}

TEST_CASE("genome.variants: symbolic alleles of other samples do not matter", "[genome]") {
  const test::TempFolder folder;
  const IndexedFasta genome(folder.file("g.fa", kGenome));
  const std::string path =
      folder.file("a.vcf", vcf_text({"s", "t"}, {"chr1\t2\t.\tC\t<INS>\t.\t.\t.\tGT\t0|0\t0|1",
                                                 "chr1\t3\t.\tG\tA,<DUP>\t.\t.\t.\tGT\t.|1\t2|2"}));
  VariantCounts counts;
  CHECK(read_all(path, genome, {io::BadRecords::refuse, {"s"}, false}, &counts) ==
        Found{"1 0 1 . C -<INS> |00", "2 0 2 . G A -<DUP> |-11"});
  CHECK(counts.skipped() == 0);
  CHECK_THAT(error_text([&] {
               read_all(path, genome, {io::BadRecords::refuse, {"s", "t"}, false});
             }),
             ContainsSubstring("record 1 (chr1:2): ALT '<INS>' is symbolic"));
  CHECK(read_all(path, genome, {io::BadRecords::skip, {"t"}, false}, &counts).size() == 1);
  CHECK(counts.symbolic == 2);
}

TEST_CASE("genome.variants: changes of the phase set are counted", "[genome]") {
  const test::TempFolder folder;
  const IndexedFasta genome(folder.file("g.fa", kGenome));
  const std::string tail = "\t.\t.\t.\tGT:PS\t";
  // Of s1: 2, 2, a homozygous one, one without phase, one without a set, 7, another contig, 2
  // there.
  const std::string text = vcf_text(
      {"s0", "s1"},
      {"chr1\t2\t.\tC\tG" + tail + "0|1:1\t0|1:2", "chr1\t3\t.\tG\tA" + tail + "0|1:5\t1|0:2",
       "chr1\t4\t.\tT\tA" + tail + "0|1:1\t1|1:4", "chr1\t5\t.\tA\tC" + tail + "0|1:5\t0/1:5",
       "chr1\t6\t.\tC\tA" + tail + "0|1:1\t0|1:.", "chr1\t7\t.\tG\tA" + tail + "0|1:5\t0|1:7",
       "chr2\t5\t.\tA\tC" + tail + "0|1:1\t0|1:2"});
  const auto count = [&](const char* type) {
    std::string defined = text;
    defined.insert(defined.find("##FORMAT"),
                   "##FORMAT=<ID=PS,Number=1,Type=" + std::string(type) + ",Description=\"\">\n");
    VariantCounts counts;
    CHECK(read_all(folder.file("a.vcf", defined), genome, {io::BadRecords::refuse, {"s1"}, false},
                   &counts)
              .size() == 7);
    CHECK(counts.skipped() == 0);
    return counts.other_phase_set;
  };
  CHECK(count("Integer") == 1);
  CHECK(count("String") == 0);
}

TEST_CASE("genome.variants: IDX elsewhere in a header is text", "[genome]") {
  const test::TempFolder folder;
  const IndexedFasta genome(folder.file("g.fa", kGenome));
  std::string text = vcf_text({"IDX0000001", "IDX0000002", "a,IDX=1000000"},
                              {"chr1\t2\t.\tC\tG\t.\t.\t.\tGT\t0|1\t1|0\t0|0"});
  text.insert(text.find("##FORMAT"),
              "##source=run_IDX_20240101\n##IDX=20240101\n##command=x,IDX=20240101\n"
              "##INFO=<ID=XIDX20240101,Number=1,Type=Float,Description=\"IDX 20240101\">\n"
              "##INFO=<ID=Y,Number=1,Type=Float,Description=\"by 1000000\",IDX=7>\n"
              "##made=<ID=IDX,Date=20240101,MYIDX=20240101,IDX2=20240101>\n");
  CHECK(read_all(folder.file("a.vcf", text), genome,
                 {io::BadRecords::refuse, {"IDX0000002"}, false}) == Found{"1 0 1 . C G |10"});
}

TEST_CASE("genome.variants: genotypes of chosen samples", "[genome]") {
  const test::TempFolder folder;
  const IndexedFasta genome(folder.file("g.fa", kGenome));
  const std::string text =
      vcf_text({"s1", "s2", "s3"}, {"chr1\t2\t.\tC\tG,T\t.\t.\t.\tGT\t0|1\t2|2\t1",
                                    "chr1\t3\t.\tG\tA\t.\t.\t.\tGT\t0/1\t1/1\t.|.",
                                    "chr1\t4\t.\tT\tA\t.\t.\t.\tGT:DP\t1|0|1:3\t./.:4\t0:5"});
  const Found expected = {"1 0 1 . C G T |1 |01", "2 0 2 . G A |-1-1 /01", "3 0 3 . T A |0 |101"};
  const VariantReaderOptions options{io::BadRecords::refuse, {"s3", "s1"}, false};
  CHECK(read_all(folder.file("a.vcf", text), genome, options) == expected);
  CHECK(read_all(test::to_bcf(folder, text), genome, options) == expected);
  CHECK(error_text([&] {
          read_all(folder.path("a.vcf"), genome, {io::BadRecords::refuse, {"s4"}, false});
        }) == "2 " + folder.path("a.vcf") + ": has no sample 's4'");
  folder.file("a.vcf", vcf_text({"s1"}, {"chr1\t2\t.\tC\tG\t.\t.\t.\tGT\t0|2"}));
  CHECK_THAT(error_text([&] {
               read_all(folder.path("a.vcf"), genome, {io::BadRecords::refuse, {"s1"}, false});
             }),
             ContainsSubstring("record 1"));
  folder.file("a.vcf", vcf_text({"s1"}, {"chr1\t2\t.\tC\tG\t.\t.\t.\tDP\t3"}));
  CHECK_THAT(error_text([&] {
               read_all(folder.path("a.vcf"), genome, {io::BadRecords::refuse, {"s1"}, false});
             }),
             ContainsSubstring("record 1 (chr1:2): has no genotypes; expected GT of every sample"));
  // Left out at the end of all samples: htslib would end the program.
  folder.file("a.vcf", vcf_text({"s1"}, {"chr1\t2\t.\tC\tG\t.\t.\t.\tDP:GT\t3"}));
  CHECK_THAT(error_text([&] {
               read_all(folder.path("a.vcf"), genome, {io::BadRecords::refuse, {"s1"}, false});
             }),
             ContainsSubstring("record 1 (chr1:2): has no genotypes"));
  folder.file("a.vcf", vcf_text({"s1"}, {"chr1\t2\t.\tC\tG\t.\t.\t.\tDP\t3",
                                         "chr1\t3\t.\tG\tA\t.\t.\t.\tGT\t0|1"}));
  VariantCounts counts;
  CHECK(read_all(folder.path("a.vcf"), genome, {io::BadRecords::skip, {"s1"}, false}, &counts) ==
        Found{"2 0 2 . G A |01"});
  CHECK(counts.no_genotypes == 1);
  CHECK(counts.skipped() == 1);
  CHECK(counts.given_out == 1);
}
