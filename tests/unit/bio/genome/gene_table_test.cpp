#include "lib/bio/genome/gene_table.hpp"

#include "tests/support/catch.hpp"
#include "tests/unit/bio/genome/error_text.hpp"
#include "tests/unit/io/files.hpp"

using namespace biogpu;
using namespace biogpu::genome;
using test::error_text;

namespace {

std::string names_of(const std::vector<Window>& genes) {
  std::string text;
  for (const Window& gene : genes)
    text += gene.key + ":" + std::to_string(gene.begin) + "-" + std::to_string(gene.end) + " ";
  return text;
}

std::string genome_text() {
  return ">chr1\n" + std::string(100, 'A') + "\n>chr2\n" + std::string(50, 'C') + "\n";
}

}  // namespace

TEST_CASE("genome.gene_table: GTF and BED give the same genes", "[genome]") {
  const test::TempFolder folder;
  const IndexedFasta genome(folder.file("g.fa", genome_text()));
  const std::string gtf =
      "#!build\n"
      "chr1\tx\tgene\t11\t20\t.\t+\t.\tgene_id \"G1\"; gene_name \"ABC\"; level 2;\n"
      "chr1\tx\ttranscript\t11\t20\t.\t+\t.\tgene_id \"G1\";\n"
      "chr1\tx\tgene\t1\t90\t.\t+\t.\tgene_id \"G2\";\n"
      "chrUn\tx\tgene\t1\t90\t.\t+\t.\tgene_id \"G3\";\n"
      "chr2\tx\tgene\t5\t5\t.\t-\t.\told_gene_name \"no\"; gene_id \"G4\"; gene_name \"DEF\";\n";
  const std::string bed = "chr1\t10\t20\tABC\nchr1\t0\t90\tG2\nchr2\t4\t5\tDEF\n";
  for (const std::string& path : {folder.file("a.gtf", gtf), folder.file("a.bed", bed)}) {
    const GeneTable genes(path, genome);
    CHECK(genes.size() == 3);
    CHECK(names_of(genes.overlapping(0, 0, 100)) == "G2:0-90 ABC:10-20 ");
    CHECK(names_of(genes.overlapping(0, 19, 20)) == "G2:0-90 ABC:10-20 ");
    CHECK(names_of(genes.overlapping(0, 20, 21)) == "G2:0-90 ");
    CHECK(names_of(genes.overlapping(0, 5, 10)) == "G2:0-90 ");
    CHECK(names_of(genes.overlapping(0, 90, 100)).empty());
    CHECK(names_of(genes.overlapping(1, -20, 400)) == "DEF:4-5 ");
    CHECK(names_of(genes.overlapping(1, 5, 9)).empty());
  }
}

TEST_CASE("genome.gene_table: errors name file and line", "[genome]") {
  const test::TempFolder folder;
  const IndexedFasta genome(folder.file("g.fa", genome_text()));
  const auto error_of = [&](const std::string& line) {
    const std::string path = folder.file("bad.gtf", "#\n" + line + "\n");
    return error_text([&] { GeneTable(path, genome); });
  };
  CHECK_THAT(error_of("chr1\tx\tgene\t1"), ContainsSubstring("line 2: 4 columns"));
  for (const char* const line :
       {"chr1\tx\tgene\t0\t5\t.\t+\t.\tgene_id \"G\";",
        "chr1\tx\tgene\t6\t5\t.\t+\t.\tgene_id \"G\";",
        "chr1\tx\tgene\t1\tx\t.\t+\t.\tgene_id \"G\";",
        "chr1\tx\tgene\t1\t5\t.\t+\t.\tgene_id \"\";", "chr1\tx\tgene\t1\t5\t.\t+\t.\tname \"G\";"})
    CHECK_THAT(error_of(line), ContainsSubstring("line 2: malformed gene"));
  CHECK_THAT(error_of("chr1\tx\tgene\t1\t101\t.\t+\t.\tgene_id \"G\";"),
             ContainsSubstring("ends at 101; 'chr1' has 100 letters"));
  CHECK_THAT(error_of("chr9\tx\tgene\t1\t5\t.\t+\t.\tgene_id \"G\";"),
             ContainsSubstring("bad.gtf: " + genome.path() + " has no sequence 'chr9'; it has"));
}

TEST_CASE("genome.gene_table: GTF without gene lines", "[genome]") {
  const test::TempFolder folder;
  const IndexedFasta genome(folder.file("g.fa", genome_text()));
  const std::string text =
      "chr1\tx\texon\t31\t40\t.\t+\t.\tgene_id \"G1\"; transcript_id \"T1\";\n"
      "chr1\tx\ttranscript\t11\t20\t.\t+\t.\tgene_name \"not gene_id \\\"; gene_id G1;\n"
      "chr1\tx\tCDS\t12\t60\t.\t-\t0\tgene_id \"G1\"\n"
      "chr1\tx\texon\t3\t90\t.\t+\t.\tgene_id \"G2\"; gene_name \"DEF\";\n"
      "chr1\tx\tgene\t5\t80\t.\t+\t.\tgene_id \"G2\"; gene_name \"DEF\";\n"
      "chr1\tx\texon\t4\t91\t.\t+\t.\tgene_id \"G2\"; gene_name \"DEF\";\n"
      "chr1\tx\trepeat\t1\t99\t.\t+\t.\tnote \"gene_id x\";\n"
      "chrU\tx\texon\t1\t5\t.\t+\t.\tgene_id \"G9\";\n";
  const GeneTable genes(folder.file("a.GTF", text), genome);
  CHECK(names_of(genes.overlapping(0, 0, 100)) ==
        "DEF:4-80 G1(chr1:10-40):10-40 G1(chr1:11-60):11-60 ");
  CHECK(genes.n_spanned() == 2);
  CHECK(genes.n_lines_elsewhere() == 1);
  CHECK_THAT(error_text([&] { GeneTable(folder.file("b.gtf", "#none\n"), genome); }),
             ContainsSubstring("b.gtf: has no gene; expected lines with gene_id"));
  CHECK_THAT(error_text([&] { GeneTable("b.gff3.gz", genome); }),
             ContainsSubstring("2 b.gff3.gz: GFF3 is not read"));
  CHECK_THAT(error_text([&] { GeneTable(folder.file("c.genes", text), genome); }),
             ContainsSubstring("GTF is known by a name that ends in .gtf"));
}

TEST_CASE("genome.gene_table: genes of one name are told apart", "[genome]") {
  const test::TempFolder folder;
  const IndexedFasta genome(folder.file("g.fa", genome_text()));
  const auto line = [](const char* contig, const char* place, const char* rest) {
    return std::string(contig) + "\tx\tgene\t" + place + "\t.\t+\t.\t" + rest + "\n";
  };
  const std::string gtf = line("chr1", "1\t9", "gene_id \"E1\"; gene_name \"SNOR\";") +
                          line("chr1", "2\t9", "gene_id \"E2\"; gene_name \"SNOR\";") +
                          line("chr1", "3\t9", "gene_id \"E3\"; gene_name \"ABC\";") +
                          line("chr1", "4\t9", "gene_id \"E4\";") +
                          line("chr2", "3\t9", "gene_id \"E4\";") +
                          line("chr1", "5\t9", "gene_name \"Y\";");
  const GeneTable genes(folder.file("a.gtf", gtf), genome);
  CHECK(names_of(genes.overlapping(0, 0, 100)) == "E1:0-9 E2:1-9 ABC:2-9 E4(chr1:3-9):3-9 Y:4-9 ");
  CHECK(names_of(genes.overlapping(1, 0, 100)) == "E4(chr2:2-9):2-9 ");
  const GeneTable bed(folder.file("a.bed", "chr1\t1\t5\tN\nchr2\t3\t7\tN\nchr1\t2\t5\tM\n"),
                      genome);
  CHECK(names_of(bed.overlapping(0, 0, 100)) == "N(chr1:1-5):1-5 M:2-5 ");
}
