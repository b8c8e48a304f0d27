#include "lib/bio/genome/genes/gene_annotation.hpp"

#include "lib/bio/genome/genes/polya_table.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/bio/genome/error_text.hpp"
#include "tests/unit/io/files.hpp"

using namespace biogpu;
using namespace biogpu::genome;
using test::error_text;

namespace {

std::string genome_text() {
  return ">chr1\n" + std::string(400, 'A') + "\n>chr2\n" + std::string(50, 'C') + "\n";
}

std::string line_of(const std::string& place, const std::string& feature, int first, int last,
                    char strand, const std::string& attributes) {
  return place + "\tx\t" + feature + "\t" + std::to_string(first) + "\t" + std::to_string(last) +
         "\t.\t" + strand + "\t.\t" + attributes + "\n";
}

std::string transcript_of(const std::string& gene, const std::string& transcript) {
  return "gene_id \"" + gene + "\"; transcript_id \"" + transcript + "\";";
}

// Two genes as in the tests of DeepMind's masks, one whose lines are in another order, and one
// that has exons alone.
std::string annotation_text() {
  const std::string g1 = "gene_id \"G1.7\"; gene_type \"protein_coding\"; gene_name \"ABC\";";
  return "#!build\n" + line_of("chr1", "gene", 102, 200, '+', g1) +
         line_of("chr1", "transcript", 102, 200, '+', transcript_of("G1.7", "T1")) +
         line_of("chr1", "transcript", 103, 200, '+', transcript_of("G1.7", "T2")) +
         line_of("chr1", "exon", 103, 110, '+', transcript_of("G1.7", "T2")) +
         line_of("chr1", "CDS", 103, 110, '+', transcript_of("G1.7", "T2")) +
         line_of("chr1", "exon", 1, 40, '-', transcript_of("G2", "T4")) +
         line_of("chr1", "transcript", 1, 108, '-', transcript_of("G2", "T4")) +
         line_of("chr1", "gene", 1, 108, '-', "gene_id G2; gene_biotype lncRNA;") +
         line_of("chr1", "exon", 81, 108, '-', transcript_of("G2", "T4")) +
         line_of("chrUn", "gene", 1, 9, '-', "gene_id G9;") +
         line_of("chr2", "exon", 31, 40, '.', transcript_of("G3", "T5")) +
         line_of("chr2", "exon", 11, 20, '.', transcript_of("G3", "T5"));
}

}  // namespace

TEST_CASE("genome.gene_annotation: genes, transcripts and exons", "[genome]") {
  const test::TempFolder folder;
  const IndexedFasta genome(folder.file("g.fa", genome_text()));
  const GeneAnnotation annotation(folder.file("a.gtf", annotation_text()), genome);
  CHECK(annotation.n_lines_elsewhere() == 1);
  REQUIRE(annotation.genes().size() == 3);
  const AnnotatedGene &g1 = annotation.genes()[0], &g2 = annotation.genes()[1],
                      &g3 = annotation.genes()[2];
  CHECK((g1.id == "G1.7" && g1.name == "ABC" && g1.type == "protein_coding" && g1.strand == '+'));
  CHECK((g2.id == "G2" && g2.name.empty() && g2.type == "lncRNA" && g2.strand == '-'));
  CHECK((g1.body == Span{101, 200} && g2.body == Span{0, 108}));
  CHECK((g3.body == Span{10, 40} && g3.contig == 1 && g3.strand == '.'));
  CHECK(annotation.transcripts()[3].body == Span{10, 40});
  CHECK(annotation.overlapping(0, 107, 108) == std::vector<std::size_t>{0, 1});
  CHECK(annotation.overlapping(0, 108, 300) == std::vector<std::size_t>{0});
  CHECK(annotation.overlapping(0, 200, 300).empty());
  CHECK(annotation.overlapping(1, 0, 11) == std::vector<std::size_t>{2});
  CHECK(without_version("G1.7_PAR_Y") == "G1");
  CHECK(without_version("G1") == "G1");
}

TEST_CASE("genome.gene_annotation: exons of transcripts that start in a window", "[genome]") {
  const test::TempFolder folder;
  const IndexedFasta genome(folder.file("g.fa", genome_text()));
  const GeneAnnotation annotation(folder.file("a.gtf", annotation_text()), genome);
  const std::vector<GeneExons> all = annotation.starting_in(0, 0, 400);
  REQUIRE(all.size() == 2);
  CHECK((all[0].gene == 0 && all[0].exons == std::vector<Span>{{102, 110}}));
  CHECK((all[1].gene == 1 && all[1].exons == std::vector<Span>{{0, 40}, {80, 108}}));
  // T1 starts at base 101 and has no exon; that of - starts at 108.
  REQUIRE(annotation.starting_in(0, 0, 102).size() == 1);
  CHECK(annotation.starting_in(0, 0, 102)[0].exons.empty());
  CHECK(annotation.starting_in(0, 103, 108).empty());
  CHECK(annotation.starting_in(0, 103, 109)[0].gene == 1);
}

TEST_CASE("genome.gene_annotation: errors name file and line", "[genome]") {
  const test::TempFolder folder;
  const IndexedFasta genome(folder.file("g.fa", genome_text()));
  const auto error_of = [&](const std::string& text) {
    const std::string path = folder.file("bad.gtf", text);
    return error_text([&] { GeneAnnotation(path, genome); });
  };
  const std::string gene = line_of("chr1", "gene", 1, 9, '+', "gene_id G;");
  CHECK_THAT(error_of(gene + gene), ContainsSubstring("line 2: a second line of the gene 'G'"));
  const std::string transcript = line_of("chr1", "transcript", 1, 9, '+', transcript_of("G", "T"));
  CHECK_THAT(error_of(transcript + transcript), ContainsSubstring("line 2: a second line of the"));
  CHECK_THAT(error_of("chr1\tx\tgene\t1\n"), ContainsSubstring("line 1: 4 columns"));
  CHECK_THAT(error_of(line_of("chr1", "gene", 1, 9, '+', "gene_name G;")),
             ContainsSubstring("line 1: gene line without gene_id"));
  CHECK_THAT(error_of(line_of("chr1", "exon", 1, 9, '+', "gene_id G;")),
             ContainsSubstring("line 1: exon line without transcript_id"));
  CHECK_THAT(error_of(line_of("chr1", "gene", 9, 1, '+', "gene_id G;")),
             ContainsSubstring("malformed gene"));
  CHECK_THAT(error_of(line_of("chr1", "gene", 1, 9, 'x', "gene_id G;")),
             ContainsSubstring("strand 'x'"));
  CHECK_THAT(error_of(line_of("chr1", "gene", 1, 401, '+', "gene_id G;")),
             ContainsSubstring("ends at 401; 'chr1' has 400 letters"));
  CHECK_THAT(error_of(line_of("1", "gene", 1, 9, '+', "gene_id G;")), ContainsSubstring("'1'"));
  CHECK_THAT(error_of(""), ContainsSubstring("has no gene"));
}

TEST_CASE("genome.polya_table: sites of genes on their strand", "[genome]") {
  const test::TempFolder folder;
  const IndexedFasta genome(folder.file("g.fa", genome_text()));
  const PolyaTable table(folder.file("sites.bed",
                                     "#chrom\tstart\tend\tgene\tscore\tstrand\n"
                                     "chr1\t10\t11\tG1.9\t.\t+\n\nchr1\t9\t10\tG1\t0\t+\textra\n"
                                     "chr1\t50\t51\tG1\t.\t-\r\nchrUn\t1\t2\tG1\t.\t+\n"),
                         genome);
  CHECK((table.size() == 3 && table.n_lines_elsewhere() == 1));
  AnnotatedGene gene{"G1.7", {}, {}, '+', 0, {0, 100}};
  CHECK(table.sites_of(gene) == std::vector<Span>{{10, 11}, {9, 10}});
  gene.strand = '-';
  CHECK(table.sites_of(gene) == std::vector<Span>{{50, 51}});
  gene.contig = 1;
  CHECK(table.sites_of(gene).empty());
  CHECK(PolyaTable(folder.file("none.bed", ""), genome).size() == 0);
}

TEST_CASE("genome.polya_table: errors name file and line", "[genome]") {
  const test::TempFolder folder;
  const IndexedFasta genome(folder.file("g.fa", genome_text()));
  const auto error_of = [&](const std::string& line) {
    const std::string path = folder.file("bad.bed", "#\n" + line + "\n");
    return error_text([&] { PolyaTable(path, genome); });
  };
  CHECK_THAT(error_of("chr1\t1\t2\tG"), ContainsSubstring("bad.bed: line 2: 4 columns"));
  CHECK_THAT(error_of("chr1\t2\t2\tG\t.\t+"), ContainsSubstring("start below end"));
  CHECK_THAT(error_of("chr1\t-2\t2\tG\t.\t+"), ContainsSubstring("malformed"));
  CHECK_THAT(error_of("chr1\t1\t2\t.1\t.\t+"), ContainsSubstring("no gene_id"));
  CHECK_THAT(error_of("chr1\t1\t2\tG\t.\t."), ContainsSubstring("strand '.'"));
  CHECK_THAT(error_of("chr1\t1\t401\tG\t.\t+"), ContainsSubstring("ends at 401"));
  CHECK_THAT(error_of("1\t1\t2\tG\t.\t+"), ContainsSubstring("'1'"));
}
