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
             ContainsSubstring("has none of its sequences, as 'chr9'"));
}
