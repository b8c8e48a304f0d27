// Scores against small tables worked out by hand, and against scripts/reference/variant_scorers.py.
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "lib/core/error.hpp"
#include "lib/tasks/dna/scorers/gene_mask.hpp"
#include "lib/tasks/dna/scorers/interval_scorer.hpp"
#include "lib/tasks/dna/scorers/junction_scores.hpp"
#include "lib/tasks/dna/scorers/polyadenylation.hpp"
#include "lib/tasks/dna/scorers/scorer.hpp"
#include "tests/models/enformer/vectors.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/io/files.hpp"

using namespace biogpu;
using namespace biogpu::tasks;

namespace {

// Values are within a few roundings of fp32 of the double-precision program's.
void check_near(const std::vector<float>& got, const std::vector<float>& right) {
  REQUIRE(got.size() == right.size());
  for (std::size_t i = 0; i < right.size(); ++i) {
    if (std::isnan(right[i]))
      CHECK(std::isnan(got[i]));
    else
      CHECK(got[i] == Approx(right[i]).epsilon(1e-6).margin(1e-6));
  }
}

std::vector<float> repeated(const std::vector<float>& column, std::size_t n_tracks) {
  std::vector<float> rows;
  for (const float value : column) rows.insert(rows.end(), n_tracks, value);
  return rows;
}

std::vector<float> counting(std::size_t n) {
  std::vector<float> column(n);
  std::iota(column.begin(), column.end(), 0.0f);
  return column;
}

// Rows of one track, aligned.
std::vector<float> aligned_column(const std::vector<float>& column, const AlleleShift& shift) {
  const AlignedRows rows({column, 1}, shift);
  std::vector<float> aligned;
  for (std::int64_t i = 0; i < rows.size(); ++i) aligned.push_back(*rows.row(i));
  return aligned;
}

const test::Vectors& expected() {
  static const test::Vectors vectors("alphagenome_tiny/scores.safetensors");
  return vectors;
}

std::vector<float> gene_scores(GeneScore score, const TrackRows& reference,
                               const AlignedRows& alternate, const RowMask& mask) {
  return score_gene(score, sum_rows(AlignedRows(reference), mask), sum_rows(alternate, mask),
                    count_rows(mask));
}

std::vector<float> contact_scores(const TrackRows& reference, const TrackRows& alternate,
                                  std::int64_t n_bins, std::int64_t bin) {
  return score_contacts({bin_contacts(reference, n_bins, bin), reference.n_tracks},
                        {bin_contacts(alternate, n_bins, bin), reference.n_tracks});
}

std::vector<float> polya_scores(const TrackRows& reference, const AlignedRows& alternate,
                                const std::vector<RowMask>& sites) {
  std::vector<std::vector<double>> before, now;
  for (const RowMask& mask : sites) {
    before.push_back(sum_rows(AlignedRows(reference), mask));
    now.push_back(sum_rows(alternate, mask));
  }
  return score_polyadenylation(before, now);
}

struct Allele {
  std::int64_t first, n_reference, n_alternate;
  AlleleShift shift() const { return find_shift(first, n_reference, n_alternate); }
  std::string key() const { return fmt::format("{}/{}/{}", first, n_reference, n_alternate); }
};

}  // namespace

TEST_CASE("dna.scorers: centre masks are cut to the window", "[dna]") {
  const models::BinGrid bases{1, 0, 2048};
  CHECK(centre_mask(9, 0, bases) == BinRange{0, 2048});
  CHECK(centre_mask(2048, 0, bases) == BinRange{});
  CHECK(centre_mask(-1, 501, bases) == BinRange{});
  CHECK(centre_mask(0, 501, bases) == BinRange{0, 251});
  CHECK(centre_mask(2047, 501, bases) == BinRange{1797, 2048});
  const models::BinGrid bins{128, 0, 16};  // 501 bases are four bins, of which the third has it
  CHECK(centre_mask(1024, 501, bins) == BinRange{6, 10});
  CHECK(centre_mask(1023, 501, bins) == BinRange{5, 9});
}

TEST_CASE("dna.scorers: aggregations of a small table", "[dna]") {
  const std::vector<float> reference = repeated(counting(10), 3), alternate(30);
  const std::vector<std::pair<Aggregation, double>> right{{Aggregation::diff_mean, -5},
                                                          {Aggregation::active_mean, 5},
                                                          {Aggregation::diff_sum, -15},
                                                          {Aggregation::active_sum, 15},
                                                          {Aggregation::l2_diff, 8.77496438},
                                                          {Aggregation::l2_diff_log1p, 3.09632988},
                                                          {Aggregation::diff_sum_log2, -7.7142455},
                                                          {Aggregation::diff_log2_sum, -4}};
  for (const auto& [aggregation, score] : right) {
    INFO(aggregation_name(aggregation));
    check_near(aggregate(aggregation, {reference, 3}, {alternate, 3}, {4, 7}),
               std::vector<float>(3, static_cast<float>(score)));
  }
  CHECK(std::isnan(aggregate(Aggregation::diff_mean, {reference, 3}, {alternate, 3}, {})[0]));
  CHECK(aggregate(Aggregation::l2_diff, {reference, 3}, {alternate, 3}, {})[0] == 0);
}

TEST_CASE("dna.scorers: aggregations equal the reference program's", "[dna]") {
  const std::vector<float> reference = expected()["reference"], alternate = expected()["alternate"];
  struct Mask {
    std::int64_t base, width, bin_size;
  };
  for (const Mask& mask : {Mask{17, 11, 1}, Mask{0, 8, 1}, Mask{59, 9, 1}, Mask{100, 0, 2},
                           Mask{100, 21, 2}, Mask{239, 501, 4}})
    for (int i = 0; i < 8; ++i) {
      const auto aggregation = static_cast<Aggregation>(i);
      const std::string key = fmt::format("centre/{}/{}/{}/{}", mask.base, mask.width,
                                          mask.bin_size, aggregation_name(aggregation));
      INFO(key);
      const BinRange bins = centre_mask(mask.base, mask.width, {mask.bin_size, 0, 60});
      check_near(aggregate(aggregation, {reference, 5}, {alternate, 5}, bins), expected()[key]);
    }
}

TEST_CASE("dna.scorers: alleles of another length are aligned", "[dna]") {
  const std::vector<float> column = counting(10);
  const auto aligned = [&](const Allele& allele) { return aligned_column(column, allele.shift()); };
  CHECK(aligned({4, 1, 1}) == column);
  CHECK(aligned({1, 1, 3}) == std::vector<float>{0, 3, 4, 5, 6, 7, 8, 9, 0, 0});
  CHECK(aligned({1, 2, 5}) == std::vector<float>{0, 1, 5, 6, 7, 8, 9, 0, 0, 0});
  CHECK(aligned({4, 1, 6}) == std::vector<float>{0, 1, 2, 3, 9, 0, 0, 0, 0, 0});
  CHECK(aligned({1, 3, 1}) == std::vector<float>{0, 1, 0, 0, 2, 3, 4, 5, 6, 7});
  CHECK(aligned({1, 5, 3}) == std::vector<float>{0, 1, 2, 3, 0, 0, 4, 5, 6, 7});
  CHECK(aligned({8, 5, 1}) == std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7, 8, 0});
}

TEST_CASE("dna.scorers: scores of genes equal the reference program's", "[dna]") {
  const std::vector<float> reference = expected()["reference"], alternate = expected()["alternate"];
  const RowMask mask = make_mask({{58, 60}, {30, 40}, {5, 9}, {20, 31}}, 60);
  CHECK(mask == RowMask{{5, 9}, {20, 40}, {58, 60}});
  for (const Allele& allele :
       {Allele{25, 1, 1}, Allele{25, 3, 3}, Allele{25, 1, 4}, Allele{25, 2, 6}, Allele{25, 5, 2},
        Allele{25, 4, 1}, Allele{25, 1, 90}, Allele{59, 1, 3}, Allele{0, 1, 2}, Allele{0, 3, 1},
        Allele{50, 3, 1}}) {
    INFO(allele.key());
    const AlignedRows aligned({alternate, 5}, allele.shift());
    const std::vector<float> rows = expected()["aligned/" + allele.key()];
    for (std::int64_t i = 0; i < aligned.size(); ++i)
      check_near(
          {aligned.row(i), aligned.row(i) + 5},
          {&rows[static_cast<std::size_t>(5 * i)], &rows[static_cast<std::size_t>(5 * i)] + 5});
    const auto check = [&](GeneScore score, const char* name) {
      check_near(gene_scores(score, {reference, 5}, aligned, mask),
                 expected()[fmt::format("gene/{}/{}", name, allele.key())]);
    };
    check(GeneScore::log_fold_change, "LFC");
    check(GeneScore::active, "ACTIVE");
    check_near(score_splicing({reference, 5}, aligned, mask),
               expected()[fmt::format("gene/SPLICING/{}", allele.key())]);
  }
}

TEST_CASE("dna.scorers: an inserted and a deleted splice site are seen", "[dna]") {
  // Sites of two classes in a window of nine bases that begins at base 0.
  const auto rows = [](const std::vector<std::pair<int, int>>& sites) {
    std::vector<float> values(18);
    for (const auto& [base, of_class] : sites)
      values[static_cast<std::size_t>(2 * base + of_class)] = 1;
    return values;
  };
  const std::vector<float> right{1, 0};
  for (const Allele& allele : {Allele{4, 1, 2}, Allele{3, 2, 3}, Allele{2, 3, 4}}) {
    const std::vector<float> reference = rows({{6, 1}}), alternate = rows({{4, 0}, {7, 1}});
    check_near(
        score_splicing({reference, 2}, AlignedRows({alternate, 2}, allele.shift()), {{0, 9}}),
        right);
  }
  for (const Allele& allele : {Allele{4, 2, 1}, Allele{3, 3, 2}, Allele{2, 4, 3}}) {
    const std::vector<float> reference = rows({{5, 0}, {4, 1}}), alternate = rows({{4, 1}});
    check_near(
        score_splicing({reference, 2}, AlignedRows({alternate, 2}, allele.shift()), {{0, 9}}),
        right);
  }
}

TEST_CASE("dna.scorers: scores of a small table of a gene", "[dna]") {
  const std::vector<float> reference = repeated(counting(11), 4), alternate(44, 1.0f);
  const AlignedRows aligned({alternate, 4});
  const auto score = [&](GeneScore kind, const RowMask& mask) {
    return gene_scores(kind, {reference, 4}, aligned, mask);
  };
  check_near(score(GeneScore::log_fold_change, {{4, 7}}), std::vector<float>(4, -1.6086375f));
  check_near(score(GeneScore::active, {{4, 7}}), std::vector<float>(4, 5.0f));
  CHECK(std::isnan(score(GeneScore::log_fold_change, {})[0]));
  CHECK(score_splicing({reference, 4}, aligned, {}) == std::vector<float>(4));
  check_near(summarize_gene(Reduction::sum, {reference, 4}, {{4, 7}}),
             std::vector<float>(4, 15.0f));
  check_near(summarize_gene(Reduction::mean, {reference, 4}, {{4, 7}}),
             std::vector<float>(4, 5.0f));
}

TEST_CASE("dna.scorers: contacts of the variant's bin", "[dna]") {
  const std::vector<float> zeros(9), map{1, 2, 1, 2, -3, 4, 1, 4, 5};
  check_near(contact_scores({zeros, 1}, {map, 1}, 3, 1), {3.0f});
  const std::vector<float> reference = expected()["contacts/reference"];
  const std::vector<float> alternate = expected()["contacts/alternate"];
  for (const std::int64_t bin : {0, 3, 6})
    check_near(contact_scores({reference, 3}, {alternate, 3}, 7, bin),
               expected()[fmt::format("contacts/{}", bin)]);
}

TEST_CASE("dna.scorers: polyadenylation of small tables", "[dna]") {
  // One base a site, so that ratios are the alternate's numbers.
  const auto score = [](const std::vector<float>& ratios) {
    const std::vector<float> reference(ratios.size(), 1.0f);
    std::vector<RowMask> masks;
    for (std::int64_t i = 0; i < std::ssize(ratios); ++i) masks.push_back({{i, i + 1}});
    return polya_scores({reference, 1}, AlignedRows({ratios, 1}), masks).at(0);
  };
  CHECK(score({10}) == 0);
  CHECK(score({2, 4}) == 1);
  CHECK(score({2, 48, 5}) == Approx(-std::log2(4.0 / 53)).epsilon(1e-6));
  CHECK(score({0, 5, 55, 10}) == Approx(-std::log2(5.0 / 65)).epsilon(1e-6));
  CHECK(score({10, 90, 5, 5}) == Approx(std::log2(10.0)).epsilon(1e-6));
}

TEST_CASE("dna.scorers: polyadenylation equals the reference program's", "[dna]") {
  const std::vector<float> reference = expected()["polya/reference"];
  const std::vector<float> alternate = expected()["polya/alternate"];
  const std::vector<std::pair<std::string, std::vector<std::int64_t>>> genes{
      {"spread", {30, 420, 700, 701, 1100, 1480}},
      {"two", {500, 600}},
      {"outside", {-30, 10, 600, 800, 1300, 1499}},
      {"few", {-60, -20, 600, 700, 1300}},
      {"one", {900}},
      {"last", {10, 300, 310, 320, 1499}}};
  for (const auto& [name, begins] : genes) {
    std::vector<PolyaSite> sites;
    for (const std::int64_t begin : begins) sites.insert(sites.begin(), {begin, begin + 1});
    sites = sites_in_window(sites, 1500);
    std::vector<float> chosen;
    for (const PolyaSite& site : sites) chosen.push_back(static_cast<float>(site.begin));
    if (chosen.empty()) chosen = {-1};
    INFO(name);
    CHECK(chosen == expected()[fmt::format("polya/{}/sites", name)]);
    if (sites.empty()) continue;  // is not scored
    for (const char strand : {'+', '-'})
      for (const Allele& allele : {Allele{710, 1, 1}, Allele{710, 1, 12}, Allele{710, 30, 2}}) {
        std::vector<RowMask> masks;
        for (const PolyaSite& site : sites) masks.push_back(site_mask(site, strand, 1500));
        const AlignedRows aligned({alternate, 4}, allele.shift());
        check_near(polya_scores({reference, 4}, aligned, masks),
                   expected()[fmt::format("polya/{}/{}/{}", name, strand, allele.key())]);
      }
  }
}

TEST_CASE("dna.scorers: a prediction that is NaN makes the score NaN", "[dna]") {
  // Eight rows of two tracks; row 5 of the second track is NaN in either allele.
  std::vector<float> good, bad;
  for (int i = 0; i < 16; ++i) good.push_back(static_cast<float>(i % 7) + 0.5f);
  bad = good;
  bad[11] = std::numeric_limits<float>::quiet_NaN();
  const auto is_second_alone = [](const std::vector<float>& scores) {
    return scores.size() == 2 && std::isfinite(scores[0]) && std::isnan(scores[1]);
  };
  const RowMask mask{{1, 3}, {5, 7}};
  for (const bool of_reference : {true, false}) {
    const TrackRows reference{of_reference ? bad : good, 2},
        alternate{of_reference ? good : bad, 2};
    INFO("of the reference: " << of_reference);
    for (int i = 0; i < 8; ++i)
      CHECK(is_second_alone(
          aggregate(static_cast<Aggregation>(i), reference, alternate, BinRange{4, 8})));
    const AlignedRows aligned(alternate);
    CHECK(is_second_alone(score_splicing(reference, aligned, mask)));
    for (const GeneScore score : {GeneScore::log_fold_change, GeneScore::active})
      CHECK(is_second_alone(gene_scores(score, reference, aligned, mask)));
    CHECK(is_second_alone(polya_scores(reference, aligned, {{{0, 2}}, {{3, 4}}, {{5, 8}}})));
    const std::vector<float> united = unite_sites(reference, aligned, {}, {{4, 6}});
    CHECK((std::isnan(united[11]) && united[10] == good[10]));
  }
  // Among inserted rows, wherever.
  for (const std::int64_t anchor : {3, 4, 5}) {
    const AlignedRows aligned({bad, 2}, find_shift(anchor, 1, 3));
    CHECK((std::isfinite(aligned.row(anchor)[0]) && std::isnan(aligned.row(anchor)[1])));
  }
  // A site without signal still has the ratio 0.
  CHECK(score_polyadenylation({{0.0}, {2.0}, {2.0}}, {{0.0}, {8.0}, {2.0}}).at(0) == 1);
  // A junction whose count is NaN is reported.
  const models::SpliceSites sites{{{10, 50}, {40, 90}, {}, {}}};
  const std::vector<float> reference(8, 1.0f);
  std::vector<float> alternate{9, 2, 1, std::numeric_limits<float>::quiet_NaN(), 1, 1, 1, 1};
  alternate[4 + 2] = 0.25f;
  const std::vector<JunctionScore> junctions =
      score_junctions(sites, {reference, 2, 1}, {alternate, 2, 1}, '+', {5, 100});
  CHECK(junctions.size() == 1);
  alternate[2] = std::numeric_limits<float>::quiet_NaN();  // 11-90 of +
  const std::vector<JunctionScore> unknown =
      score_junctions(sites, {reference, 2, 1}, {alternate, 2, 1}, '+', {5, 100});
  REQUIRE(unknown.size() == 1);
  CHECK((unknown[0].intron == BinRange{11, 90} && std::isnan(unknown[0].values[0])));
}

TEST_CASE("dna.scorers: names of scorers", "[dna]") {
  std::set<std::string> names, texts;
  for (const Scorer& scorer : recommended_scorers()) {
    names.insert(scorer.name);
    texts.insert(scorer.describe());
    CHECK(parse_scorer(scorer.name).describe() == scorer.describe());
  }
  CHECK(names.size() == recommended_scorers().size());
  CHECK(texts.size() == names.size());
  CHECK(parse_scorer("CHIP_HISTONE_ACTIVE").describe() ==
        "CenterMaskScorer(requested_output=CHIP_HISTONE, width=2001, aggregation_type=ACTIVE_SUM)");
  CHECK(parse_scorer("CHIP_TF").head() == "chip_tf/128");
  CHECK(parse_scorer("POLYADENYLATION").head() == "rna_seq/1");
  CHECK(parse_scorer("SPLICE_SITE_USAGE").head() == "splice_site_usage");
  const Scorer other = parse_scorer("RNA_SEQ:all:L2_DIFF");
  CHECK(other.describe() ==
        "CenterMaskScorer(requested_output=RNA_SEQ, width=None, aggregation_type=L2_DIFF)");
  for (const char* wrong : {"", "atac", "ATAC:501", "ATAC:502:DIFF_SUM",
                            "CONTACT_MAPS:all:DIFF_SUM", "ATAC:501:SUM", "ATAC:501:DIFF_SUM:1"})
    CHECK_THROWS_AS(parse_scorer(wrong), Error);
}

TEST_CASE("dna.scorers: names of scorers of intervals", "[dna]") {
  CHECK(parse_interval_scorer("RNA_SEQ").describe() ==
        "GeneMaskScorer(requested_output=RNA_SEQ, width=200001, aggregation_type=MEAN)");
  const IntervalScorer other = parse_interval_scorer("CHIP_TF:all:SUM");
  CHECK(other.describe() ==
        "GeneMaskScorer(requested_output=CHIP_TF, width=None, aggregation_type=SUM)");
  CHECK(other.head() == "chip_tf/128");
  for (const char* wrong : {"", "ATAC", "PROCAP:all:SUM", "ATAC:7:SUM", "ATAC:501:MAX"})
    CHECK_THROWS_AS(parse_interval_scorer(wrong), Error);
}

TEST_CASE("dna.scorers: exons in the middle of a window", "[dna]") {
  const test::TempFolder folder;
  const genome::IndexedFasta genome(folder.file("g.fa", ">chr1\n" + std::string(2000, 'A') + "\n"));
  const auto lines = [](const std::string& gene, char strand, int first, int last) {
    std::string text;
    for (const char* feature : {"transcript", "exon"})
      text += fmt::format("chr1\tx\t{}\t{}\t{}\t.\t{}\t.\tgene_id \"{}\"; transcript_id \"T{}\";\n",
                          feature, first, last, strand, gene, first);
    return text;
  };
  const genome::GeneAnnotation genes(
      folder.file("a.gtf", lines("G1", '+', 302, 306) + lines("G2", '-', 1, 138) +
                               lines("G3", '+', 760, 2000)),
      genome);
  const genome::Window window{"", 0, 0, 1024};
  // 501 bases from 261 on.
  const std::vector<GeneRows> bases = exon_rows(genes, window, 501, 1);
  REQUIRE(bases.size() == 2);
  CHECK((bases[0].gene == 0 && bases[0].mask == RowMask{{301, 306}}));
  CHECK((bases[1].gene == 2 && bases[1].mask == RowMask{{759, 762}}));
  const std::vector<GeneRows> bins = exon_rows(genes, window, 501, 128);
  CHECK((bins[0].mask == RowMask{{2, 3}} && bins[1].mask == RowMask{{5, 6}}));
  const std::vector<GeneRows> all = exon_rows(genes, window, 0, 128);
  CHECK((all.size() == 3 && all[1].mask == RowMask{{0, 2}} && all[2].mask == RowMask{{5, 8}}));
}

TEST_CASE("dna.scorers: sites of both alleles and of the annotation", "[dna]") {
  // Two classes of a window of six bases, an allele with an inserted base behind base 1.
  const std::vector<float> reference{0.5f, 0, 0, 0.2f, 0, 0, 0, 0.3f, 0, 0, 0.9f, 0.9f};
  const std::vector<float> alternate{0, 0, 0.1f, 0, 0.4f, 0.1f, 0, 0, 0, 0.6f, 0, 0};
  const AlignedRows aligned({alternate, 2}, find_shift(1, 1, 2));
  const std::vector<float> united =
      unite_sites({reference, 2}, aligned, {{1, 2}, {0, 5}}, {{1, 5}});
  CHECK(united == std::vector<float>{0, 0, 0.4f, 0.2f, 0, 1, 0, 0.6f, 0, 0, 0, 0});
  const models::SpliceSites sites{{{0, 1}, {2}, {4}, {5}}};
  const models::SiteRows rows = find_site_rows(sites, find_shift(1, 1, 2), 6);
  CHECK(rows.rows ==
        std::vector<std::int32_t>{0, models::SiteRows::kMaximum, 3, 5, models::SiteRows::kZeros});
  CHECK((rows.max_begin == 1 && rows.max_end == 3));
  const models::SiteRows deleted = find_site_rows(sites, find_shift(1, 3, 1), 6);
  CHECK(deleted.rows == std::vector<std::int32_t>{0, 1, models::SiteRows::kZeros, 2, 3});
}

TEST_CASE("dna.scorers: the most changed junctions of a gene", "[dna]") {
  // Donors 10 and 50, acceptors 40 and 90 on both strands, two tissues.
  const models::SpliceSites sites{{{10, 50}, {40, 90}, {90, 95}, {20, 60}}};
  std::vector<float> reference(16, 1.0f), alternate(16, 1.0f);
  alternate[0] = 4;          // 11-40 of +, tissue 0
  alternate[4 + 1] = 0.5f;   // 11-90 of +, tissue 1
  alternate[12 + 0] = 3;     // 51-90 of +, tissue 0
  alternate[2] = 2;          // 21-90 of -, tissue 0
  alternate[8 + 4 + 3] = 8;  // 61-95 of -, tissue 1
  const auto scores = [&](char strand, const BinRange& body) {
    return score_junctions(sites, {reference, 2, 2}, {alternate, 2, 2}, strand, body);
  };
  const std::vector<JunctionScore> all = scores('+', {5, 100});
  REQUIRE(all.size() == 2);
  CHECK((all[0].intron == BinRange{11, 40} && all[1].intron == BinRange{11, 90}));
  CHECK(all[0].values == std::vector<float>{1.38671875f, 0});  // ln 4 in half precision
  CHECK(all[1].values == std::vector<float>{0, 0.693359375f});
  // Inside the body alone: its first and last base do not count.
  CHECK(scores('+', {5, 90})[0].intron == BinRange{11, 40});
  CHECK(scores('+', {5, 90}).size() == 1);
  CHECK(scores('+', {11, 100}).size() == 1);
  CHECK(scores('+', {11, 100})[0].intron == BinRange{51, 90});
  CHECK(scores('+', {60, 80}).empty());
  const std::vector<JunctionScore> reverse = scores('-', {5, 100});
  REQUIRE(reverse.size() == 2);
  CHECK((reverse[0].intron == BinRange{21, 90} && reverse[1].intron == BinRange{61, 95}));
}
