#include "lib/bio/genome/annotated_vcf.hpp"

#include <cmath>

#include "tests/support/catch.hpp"
#include "tests/unit/bio/genome/error_text.hpp"
#include "tests/unit/bio/genome/vcf_files.hpp"
#include "tests/unit/io/files.hpp"

using namespace biogpu;
using namespace biogpu::genome;
using test::error_text;
using test::vcf_text;

namespace {

const std::vector<std::string> kLines = {
    "chr1\t2\trs1\tC\tG\t50\tPASS\tAC=7\tGT\t0/1", "chr1\t3\t.\tG\tA,GT\t.\t.\t.\tGT\t1|2",
    "chr1\t4\t.\tT\t<DEL>\t.\t.\t.\tGT\t1|0", "chr1\t9\t.\tA\tC\t.\t.\t.\tGT\t./."};

// Adds SAD, one a letter allele, to what a reader that skips scores.
void annotate(const std::string& in, const std::string& out, const IndexedFasta& genome,
              bool commit = true) {
  VariantReader reader(in, genome, {io::BadRecords::skip, {}, true});
  AnnotatedVcfWriter writer(out, reader,
                            {{"SAD", "A", "difference of \"tracks\""}, {"MAX", "1", "largest"}});
  float value = 0.5f;
  for (Variant variant; reader.next(variant); value += 1) {
    if (!variant.is_scored) {
      writer.write(variant, {});
      continue;
    }
    std::vector<std::vector<float>> values(2);
    for (std::size_t i = 0; i < variant.alts.size(); ++i) values[0].push_back(i == 1 ? NAN : value);
    if (variant.record != 2) values[1] = {-value};
    writer.write(variant, values);
  }
  if (commit) writer.commit();
}

std::string body_of(const std::string& vcf) { return vcf.substr(vcf.find("\nchr1") + 1); }

}  // namespace

TEST_CASE("genome.annotated_vcf: records keep what they have and get fields", "[genome]") {
  const test::TempFolder folder;
  const IndexedFasta genome(folder.file("g.fa", ">chr1\nACGTACGTACGT\n"));
  const std::string in = folder.file("a.vcf", vcf_text({"s"}, kLines));
  const std::string expected =
      "chr1\t2\trs1\tC\tG\t50\tPASS\tAC=7;SAD=0.5;MAX=-0.5\tGT\t0/1\n"
      "chr1\t3\t.\tG\tA,GT\t.\t.\tSAD=1.5,.\tGT\t1|2\n"
      "chr1\t4\t.\tT\t<DEL>\t.\t.\t.\tGT\t1|0\n"
      "chr1\t9\t.\tA\tC\t.\t.\tSAD=3.5;MAX=-3.5\tGT\t./.\n";
  const std::string out = folder.path("out.vcf");
  annotate(in, out, genome);
  const std::string text = test::read_file(out);
  CHECK(body_of(text) == expected);
  CHECK_THAT(text,
             ContainsSubstring("##INFO=<ID=SAD,Number=A,Type=Float,Description=\"difference of "
                               "\\\"tracks\\\"\">") &&
                 ContainsSubstring("##contig=<ID=chr1,length=12>"));
  annotate(in, folder.path("out.vcf.gz"), genome);
  CHECK(test::gunzip(test::read_file(folder.path("out.vcf.gz"))) == text);
  annotate(in, folder.path("out.bcf"), genome);
  // Read again, as BCF and from it as VCF.
  VariantReader again(folder.path("out.bcf"), genome, {io::BadRecords::skip, {}, true});
  AnnotatedVcfWriter copy(folder.path("copy.vcf"), again, {});
  for (Variant variant; again.next(variant);) copy.write(variant, {});
  copy.commit();
  CHECK(body_of(test::read_file(folder.path("copy.vcf"))) == expected);
}

TEST_CASE("genome.annotated_vcf: nothing has the name of an output before commit", "[genome]") {
  const test::TempFolder folder;
  const IndexedFasta genome(folder.file("g.fa", ">chr1\nACGTACGTACGT\n"));
  const std::string in = folder.file("a.vcf", vcf_text({"s"}, kLines));
  const std::vector<std::string> before = folder.names();
  for (const char* name : {"out.vcf", "out.vcf.gz", "out.bcf"}) {
    annotate(in, folder.path(name), genome, false);
    CHECK(folder.names() == before);
  }
  CHECK_THAT(error_text([&] { annotate(in, "/nonexistent/out.vcf", genome); }),
             ContainsSubstring("1 /nonexistent/out.vcf: cannot be written"));
  CHECK_THAT(error_text([&] { annotate(in, "/dev/full", genome); }),
             ContainsSubstring("1 /dev/full: cannot be written: No space left"));
}

TEST_CASE("genome.annotated_vcf: headers that do not fit", "[genome]") {
  const test::TempFolder folder;
  const IndexedFasta genome(folder.file("g.fa", ">chr1\nACGTACGTACGT\n"));
  std::string text = vcf_text({}, {"chr1\t2\t.\tC\tG\t.\tq9"});
  const std::string in = folder.file("a.vcf", text);
  CHECK_THAT(error_text([&] { annotate(in, folder.path("out.bcf"), genome); }),
             ContainsSubstring("a.vcf: record 1: the header does not define FILTER/q9"));
  text.insert(text.find("#CHROM"), "##INFO=<ID=SAD,Number=1,Type=String,Description=\"x\">\n");
  folder.file("a.vcf", text);
  CHECK_THAT(error_text([&] { annotate(in, folder.path("out.vcf"), genome); }),
             ContainsSubstring("2 " + in + ": has INFO/SAD already"));
  folder.file("a.vcf", vcf_text({"s", "t"}, {"chr1\t2\t.\tC\tG"}));
  CHECK_THAT(error_text([&] { annotate(in, folder.path("out.vcf"), genome); }),
             ContainsSubstring("3 " + in + ": record 1 (chr1:2): 8 columns; the header has 11"));
  folder.file("a.vcf", "");
  annotate(in, folder.path("out.vcf"), genome);
  CHECK_THAT(test::read_file(folder.path("out.vcf")), ContainsSubstring("#CHROM\tPOS"));
}

TEST_CASE("genome.annotated_vcf: holds every record that came in", "[genome]") {
  const test::TempFolder folder;
  const IndexedFasta genome(folder.file("g.fa", ">chr1\nACGTACGTACGT\n"));
  // Tags and sequences that the header lacks come between, also in records that are not scored.
  const std::string text = vcf_text(
      {"s"}, {"chr1\t1\ta\tA\t*\t.\t.\tNEW=x;FLAG\tGT\t0|1",
              "chr1\t2\tb\tC\tG,*\t.\tlow\tAC=1,2\tGT:ZZ\t1|2:q",
              "chr1\t3\tc\tG\t<NON_REF>\t7.5\t.\tOTHER=5;NEW=y\tGT\t0|0",
              "chr1\t4\td\tT\t.\t.\tPASS\t.\tGT\t0/0", "chrX\t5\te\tA\tC\t.\t.\tAC=4\tGT\t0|1",
              "chr1\t5\tf\tC\tA\t.\t.\t.\tGT\t0|1", "chr1\t50\tg\tC\tA\t.\t.\t.\tGT\t0|1",
              "chr1\t9\th\tA\tT,<*>,.\t.\t.\tOTHER=1\tGT\t0|1"});
  const std::string in = folder.file("a.vcf", text);
  annotate(in, folder.path("out.vcf"), genome);
  CHECK(body_of(test::read_file(folder.path("out.vcf"))) ==
        "chr1\t1\ta\tA\t*\t.\t.\tNEW=x;FLAG\tGT\t0|1\n"
        "chr1\t2\tb\tC\tG,*\t.\tlow\tAC=1,2;SAD=1.5,.\tGT:ZZ\t1|2:q\n"
        "chr1\t3\tc\tG\t<NON_REF>\t7.5\t.\tOTHER=5;NEW=y\tGT\t0|0\n"
        "chr1\t4\td\tT\t.\t.\tPASS\t.\tGT\t0/0\n"
        "chrX\t5\te\tA\tC\t.\t.\tAC=4\tGT\t0|1\n"
        "chr1\t5\tf\tC\tA\t.\t.\t.\tGT\t0|1\n"
        "chr1\t50\tg\tC\tA\t.\t.\t.\tGT\t0|1\n"
        "chr1\t9\th\tA\tT,<*>,.\t.\t.\tOTHER=1;SAD=7.5,.,7.5;MAX=-7.5\tGT\t0|1\n");
  VariantReader reader(in, genome, {io::BadRecords::skip, {}, true});
  std::string names;
  for (Variant variant; reader.next(variant);)
    for (const MissingDefinition& missing : variant.missing_definitions)
      names += std::to_string(variant.record) + missing.name + " ";
  CHECK(names == "1INFO/NEW 1INFO/FLAG 2FILTER/low 2FORMAT/ZZ 3INFO/OTHER 5contig/chrX ");
}

TEST_CASE("genome.annotated_vcf: a field that is given twice is refused", "[genome]") {
  const test::TempFolder folder;
  const IndexedFasta genome(folder.file("g.fa", ">chr1\nACGTACGTACGT\n"));
  VariantReader reader(folder.file("a.vcf", vcf_text({}, {"chr1\t2\t.\tC\tG"})), genome,
                       {io::BadRecords::refuse, {}, true});
  CHECK_THAT(error_text([&] {
               AnnotatedVcfWriter(folder.path("out.vcf"), reader,
                                  {{"SAD", "A", "one"}, {"SAR", "A", "two"}, {"SAD", "A", "one"}});
             }),
             ContainsSubstring("2 ") && ContainsSubstring("has INFO/SAD already"));
}
