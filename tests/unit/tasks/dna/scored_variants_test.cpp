// AlphaGenome's scores of substitutions by what scorers read, against those of all tracks of whole
// windows.
#include <fmt/format.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "lib/ops/cpu/cpu_context.hpp"
#include "lib/tasks/dna/scorers/variant_scorer.hpp"
#include "lib/tensor/host_context.hpp"
#include "tests/models/alphagenome/model_support.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/io/files.hpp"

using namespace biogpu;
using namespace biogpu::tasks;

namespace {

constexpr std::int64_t kBases = 9000;
constexpr std::int64_t kScoredWindow = 2048;

std::string random_letters() {
  std::string letters;
  std::uint32_t state = 7;
  for (std::int64_t i = 0; i < kBases; ++i) {
    state = state * 1664525u + 1013904223u;
    letters += "ACGT"[state >> 30];
  }
  return letters;
}

// Two genes of + and - over base 4500, one of them coding with three exons and sites of
// polyadenylation; one near the end; one with exons over all of a window.
std::string gene_lines() {
  std::string text;
  const auto add = [&](const std::string& gene, char strand, const char* type,
                       const std::vector<std::pair<int, int>>& exons) {
    const auto line = [&](const char* feature, int first, int last) {
      text += fmt::format(
          "chr1\tx\t{}\t{}\t{}\t.\t{}\t.\tgene_id \"{}\"; transcript_id \"T{}\"; gene_type "
          "\"{}\";\n",
          feature, first, last, strand, gene, gene, type);
    };
    line("gene", exons.front().first, exons.back().second);
    line("transcript", exons.front().first, exons.back().second);
    for (const auto& [first, last] : exons) line("exon", first, last);
  };
  add("G1", '+', "protein_coding", {{4400, 4440}, {4470, 4520}, {4580, 4640}});
  add("G2", '-', "lncRNA", {{4300, 4350}, {4495, 4505}});
  add("G3", '+', "protein_coding", {{8600, 8700}, {8800, 8990}});
  add("G4", '+', "lncRNA", {{3600, 3610}, {4100, 4104}, {5400, 5440}});
  return text;
}

struct Tables {
  test::TempFolder folder;
  std::string letters = random_letters();
  genome::IndexedFasta genome{folder.file("g.fa", ">chr1\n" + letters + "\n")};
  genome::GeneAnnotation genes{folder.file("a.gtf", gene_lines()), genome};
  genome::PolyaTable polya{folder.file("p.bed",
                                       "chr1\t4450\t4451\tG1\t0\t+\nchr1\t4530\t4531\tG1\t0\t+\n"
                                       "chr1\t4630\t4631\tG1\t0\t+\n"),
                           genome};

  // Position from 0, length of REF, ALT: empty for other letters.
  genome::Variant variant(std::int64_t position, std::size_t n,
                          const std::vector<std::string>& alts) const {
    genome::Variant variant;
    variant.position = position;
    variant.ref = letters.substr(static_cast<std::size_t>(position), n);
    const auto codes_of = [](const std::string& text) {
      std::vector<genome::LetterCode> codes;
      for (const char c : text)
        codes.push_back(static_cast<genome::LetterCode>(std::string("ACGT").find(c)));
      return codes;
    };
    variant.ref_codes = codes_of(variant.ref);
    for (std::string text : alts) {
      if (text.empty())
        for (const char c : variant.ref) text += "CGTA"[std::string("ACGT").find(c)];
      variant.alts.push_back({text, genome::AlleleKind::letters, codes_of(text)});
    }
    return variant;
  }
  // SNVs, substitutions and alleles of another length, at the same place and over the window.
  std::vector<genome::Variant> variants() const {
    return {variant(0, 1, {""}),         variant(4499, 1, {"", "ACCT"}),
            variant(4500, 40, {""}),     variant(4502, 3, {"A", ""}),
            variant(6000, 1, {""}),      variant(6500, 900, {""}),  // not near
            variant(kBases - 1, 1, {""})};
  }
};

models::AlphaGenome::Options options_of(const std::vector<Scorer>& scorers) {
  models::AlphaGenome::Options options;
  options.n_bases = kScoredWindow;
  for (const Scorer& scorer : scorers) {
    const auto is_same = [&](const models::HeadChoice& choice) {
      return choice.name == scorer.head();
    };
    auto& heads = options.weights.heads;
    if (std::none_of(heads.begin(), heads.end(), is_same)) heads.push_back({scorer.head(), {}});
  }
  return options;
}

std::vector<Scorer> scorers_of(const std::vector<std::string>& names) {
  std::vector<Scorer> scorers;
  for (const std::string& name : names) scorers.push_back(parse_scorer(name));
  return scorers;
}

void check_same_scores(const std::vector<AlleleScores>& got,
                       const std::vector<AlleleScores>& right) {
  REQUIRE(got.size() == right.size());
  for (std::size_t i = 0; i < right.size(); ++i) {
    INFO("allele " << i << " of variant " << right[i].variant);
    CHECK((got[i].variant == right[i].variant && got[i].alt == right[i].alt));
    REQUIRE(got[i].rows.size() == right[i].rows.size());
    for (std::size_t r = 0; r < right[i].rows.size(); ++r) {
      const ScoreRow &a = got[i].rows[r], &b = right[i].rows[r];
      INFO("scorer " << b.scorer);
      CHECK((a.scorer == b.scorer && a.gene == b.gene && a.junction == b.junction));
      REQUIRE(a.values.size() == b.values.size());
      const bool is_same =
          std::memcmp(a.values.data(), b.values.data(), b.values.size() * sizeof(float)) == 0;
      CHECK(is_same);
    }
  }
}

// Counts numbers that are fetched.
class FetchingContext final : public tensor::HostContext {
 public:
  Kind kind() const override { return Kind::reference; }
  std::string name() const override { return "fetching"; }
  tensor::Precision precision() const override { return tensor::Precision::fp32; }
  void synchronize() override {}
  void copy_out(float* host, const tensor::Tensor& from) override {
    n_bytes += from.bytes();
    HostContext::copy_out(host, from);
  }
  using HostContext::copy_out;
  std::size_t n_bytes = 0;
};

}  // namespace

TEST_CASE("dna.scored_variants: what scorers read gives the scores of whole windows",
          "[dna][model]") {
  const Tables tables;
  const std::vector<genome::Variant> variants = tables.variants();
  // Masks around the variant, exons, the bodies of genes, sums and rows of all bases, all together.
  for (const std::vector<std::string>& names :
       {std::vector<std::string>{"ATAC", "CHIP_TF", "CHIP_HISTONE_ACTIVE", "CONTACT_MAPS",
                                 "RNA_SEQ:501:L2_DIFF", "CAGE:501:DIFF_SUM_LOG2",
                                 "DNASE:501:DIFF_MEAN", "DNASE:501:ACTIVE_MEAN"},
        {"SPLICE_SITES", "SPLICE_SITE_USAGE", "POLYADENYLATION", "SPLICE_JUNCTIONS"},
        {"CHIP_TF", "CONTACT_MAPS"},
        {"RNA_SEQ", "RNA_SEQ_ACTIVE"},
        {"SPLICE_JUNCTIONS"},
        {"ATAC", "RNA_SEQ", "RNA_SEQ_ACTIVE", "RNA_SEQ:all:L2_DIFF_LOG1P", "CAGE:all:DIFF_SUM",
         "SPLICE_SITES:2001:DIFF_SUM", "POLYADENYLATION", "SPLICE_JUNCTIONS"}}) {
    INFO(names.front() << " and others");
    ScorerOptions options;
    options.scorers = scorers_of(names);
    options.genes = &tables.genes;
    options.polya = &tables.polya;
    options.windows_per_pass = 3;
    test::LoadedAlphaGenome loaded(ops::make_cpu_context(2), options_of(options.scorers));
    for (const std::int64_t grid : {1, 64}) {
      if (grid > 1 && names.size() < 8) continue;
      options.grid = grid;
      options.reuse = false;
      const auto whole = score_variants(loaded.model, tables.genome, variants, options);
      options.reuse = true;
      for (const std::uint64_t kept : {std::uint64_t{1} << 30, std::uint64_t{0}}) {
        options.max_kept_bytes = kept;
        check_same_scores(score_variants(loaded.model, tables.genome, variants, options), whole);
      }
      CHECK(whole.size() == 9);
      if (names.size() > 2) CHECK(whole[1].rows.size() >= names.size());
    }
  }
}

// Over the edges of exons and sites, over whole exons and genes, and at the ends of the sequence.
TEST_CASE("dna.scored_variants: insertions and deletions anywhere", "[dna][model]") {
  const Tables tables;
  std::vector<genome::Variant> variants;
  for (const std::int64_t position : {2, 3600, 4299, 4399, 4439, 4449, 4469, 4490, 4519, 4529, 4600,
                                      4639, 5390, 8599, 8989, 8995}) {
    variants.push_back(tables.variant(position, 1, {std::string(1 + position % 7, 'A')}));
    if (position + 5 <= kBases)
      variants.push_back(tables.variant(position, 2 + position % 4, {"G"}));
  }
  variants.push_back(tables.variant(4395, 60, {"A"}));
  variants.push_back(tables.variant(4290, 400, {"ACG"}));
  variants.push_back(tables.variant(4480, 1, {std::string(300, 'C')}));
  ScorerOptions options;
  options.scorers =
      scorers_of({"ATAC", "RNA_SEQ", "RNA_SEQ_ACTIVE", "SPLICE_SITES", "SPLICE_SITE_USAGE",
                  "POLYADENYLATION", "SPLICE_JUNCTIONS", "CONTACT_MAPS"});
  options.genes = &tables.genes;
  options.polya = &tables.polya;
  options.windows_per_pass = 4;
  test::LoadedAlphaGenome loaded(ops::make_cpu_context(2), options_of(options.scorers));
  for (const std::int64_t grid : {1, 128}) {
    options.grid = grid;
    options.reuse = false;
    const auto whole = score_variants(loaded.model, tables.genome, variants, options);
    CHECK(whole.size() == variants.size());
    options.reuse = true;
    check_same_scores(score_variants(loaded.model, tables.genome, variants, options), whole);
  }
}

TEST_CASE("dna.scored_variants: where aligned rows come from", "[dna]") {
  std::uint64_t state = 1;
  const auto below = [&](std::int64_t n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::int64_t>((state >> 33) % static_cast<std::uint64_t>(n));
  };
  int n_of_maximum = 0, n_empty = 0;
  for (int turn = 0; turn < 20000; ++turn) {
    const std::int64_t n = 1 + below(40), begin = below(n), end = begin + 1 + below(n - begin);
    const AlleleShift shift{below(n + 3) - 1, below(25) - 12};
    const SourceRows source = find_sources(shift, {begin, end}, n);
    std::vector<std::int64_t> rows;  // in turn, without zeros
    bool has_maximum = false;
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t row = find_source(shift, i, n);
      has_maximum = has_maximum || row == kMaximumRow;
      if (row != kZeroRow) rows.push_back(row == kMaximumRow ? shift.anchor : row);
    }
    INFO(turn << ": " << n << " rows, " << begin << " to " << end << ", anchor " << shift.anchor
              << ", " << shift.n_inserted);
    const bool is_same = source.rows.begin >= source.rows.end
                             ? rows.empty()
                             : !rows.empty() && source.has_maximum == has_maximum &&
                                   source.rows.begin == rows.front();
    CHECK(is_same);
    n_of_maximum += has_maximum ? 1 : 0;
    n_empty += rows.empty() ? 1 : 0;
    if (rows.empty()) continue;
    // One after the other, or with those of the maximum behind the anchor.
    const std::int64_t last =
        rows.back() == shift.anchor && has_maximum ? shift.anchor + shift.n_inserted : rows.back();
    CHECK(source.rows.end == last + 1);
    if (!has_maximum) CHECK(source.rows.end - source.rows.begin == std::ssize(rows));
  }
  CHECK((n_of_maximum > 1000 && n_empty > 100));
}

TEST_CASE("dna.scored_variants: only what scorers read is fetched", "[dna][model]") {
  const Tables tables;
  const std::vector<genome::Variant> variants{tables.variant(4499, 1, {""})};
  ScorerOptions options;
  options.scorers = scorers_of({"CHIP_TF", "CHIP_HISTONE", "CONTACT_MAPS"});
  auto context = std::make_unique<FetchingContext>();
  FetchingContext& counting = *context;
  test::LoadedAlphaGenome loaded(std::move(context), options_of(options.scorers));
  std::vector<std::size_t> fetched;
  for (const bool reuse : {false, true}) {
    options.reuse = reuse;
    counting.n_bytes = 0;
    score_variants(loaded.model, tables.genome, variants, options);
    fetched.push_back(counting.n_bytes);
  }
  // Two passes: 10 tracks of 256 bins and 3 of 16 * 16 pairs, or sums and the pairs of one bin.
  CHECK(fetched[0] == 2 * 4 * (10 * 256 + 3 * 256));
  CHECK(fetched[1] == 2 * (4 * 3 * 16 + 8 * 10));
}
