#include "lib/tasks/dna/scorers/variant_scorer.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "lib/bio/genome/haplotype.hpp"
#include "lib/tasks/dna/scorers/gene_mask.hpp"
#include "lib/tasks/dna/scorers/interval_scorer.hpp"
#include "lib/tasks/dna/scorers/junction_scores.hpp"
#include "lib/tasks/dna/scorers/polyadenylation.hpp"
#include "lib/tasks/dna/variant_windows.hpp"
#include "lib/tasks/dna/window_parts.hpp"

namespace biogpu::tasks {
namespace {

using genome::LetterCode;
using genome::Variant;
using genome::Window;
using models::DnaModel;

// One window of a pass.
struct Predictions {
  const DnaModel& model;
  const models::Outputs& outputs;
  const std::vector<models::SiteWindow>& sites;  // of each window, or none
  std::size_t window = 0, n_windows = 1;

  TrackRows rows(const std::string& head) const {
    const models::Outputs::Array& array = outputs.at("tracks." + head);
    const std::size_t n = array.values.size() / n_windows;
    const auto& choices = model.heads();
    const auto choice =
        std::find_if(choices.begin(), choices.end(),
                     [&](const models::HeadChoice& loaded) { return loaded.name == head; });
    return {{array.values.data() + window * n, n},
            static_cast<std::int64_t>(model.n_tracks(*choice))};
  }
};

struct Allele {
  std::size_t variant = 0, alt = 0;
};

// Alleles of one window.
class WindowScorer {
 public:
  WindowScorer(DnaModel& model, const genome::IndexedFasta& genome,
               std::span<const Variant> variants, const ScorerOptions& options,
               const Window& window)
      : model_(model),
        genome_(genome),
        variants_(variants),
        options_(options),
        window_(window),
        has_junctions_(std::any_of(
            options.scorers.begin(), options.scorers.end(),
            [](const Scorer& scorer) { return scorer.kind == Scorer::Kind::splice_junction; })) {}

  void score(std::span<const Allele> alleles, std::vector<AlleleScores>& to);

 private:
  models::Outputs run(std::span<const Allele> alleles,
                      std::vector<models::SiteWindow>& sites) const;
  AlleleScores score_allele(const Allele& allele, const Predictions& reference,
                            const Predictions& alternate);
  void add_genes(std::size_t scorer, const std::vector<GeneRows>& genes, const TrackRows& reference,
                 const AlignedRows& alternate, std::vector<ScoreRow>& rows) const;
  void add_polyadenylation(std::size_t scorer, const Variant& variant, std::size_t alt,
                           const TrackRows& reference, const AlignedRows& alternate,
                           std::vector<ScoreRow>& rows) const;
  void add_junctions(std::size_t scorer, const Allele& allele, const AlleleShift& shift,
                     const models::SiteWindow& reference, const models::SiteWindow& alternate,
                     std::vector<ScoreRow>& rows);
  std::vector<models::SpliceSite> annotated_sites() const;
  const std::vector<GeneRows>& exons();
  std::vector<GeneRows> bodies(const Variant& variant, std::size_t alt) const;
  std::vector<std::size_t> overlapped_genes(const Variant& variant, std::size_t alt) const;

  DnaModel& model_;
  const genome::IndexedFasta& genome_;
  const std::span<const Variant> variants_;
  const ScorerOptions& options_;
  const Window window_;
  const bool has_junctions_;
  std::optional<std::vector<GeneRows>> exons_;  // of the window
};

// The letters of the window's reference where there is no allele.
models::Outputs WindowScorer::run(std::span<const Allele> alleles,
                                  std::vector<models::SiteWindow>& sites) const {
  const auto length = static_cast<std::size_t>(window_.size());
  std::vector<std::uint8_t> letters(std::max<std::size_t>(alleles.size(), 1) * length);
  if (alleles.empty()) genome_.fetch(window_.contig, window_.begin, letters);
  for (std::size_t i = 0; i < alleles.size(); ++i)
    genome::build_alternate(genome_, window_, variants_[alleles[i].variant], alleles[i].alt,
                            std::span(letters).subspan(i * length, length));
  std::replace(letters.begin(), letters.end(), genome::kUnknownLetter, options_.unknown);
  DnaModel::Request request;
  if (has_junctions_) request.sites = &sites;
  return model_.run(letters, request);
}

void WindowScorer::score(std::span<const Allele> alleles, std::vector<AlleleScores>& to) {
  if (alleles.empty()) return;
  const auto at_once = static_cast<std::size_t>(options_.windows_per_pass);
  if (has_junctions_) model_.reserve_sites(1 + at_once);
  std::vector<models::SiteWindow> sites_of_reference;
  const models::Outputs of_reference = run({}, sites_of_reference);
  const Predictions reference{model_, of_reference, sites_of_reference};
  run_in_parts(alleles.size(), at_once, [&](std::size_t first, std::size_t n) {
    const std::span<const Allele> part = alleles.subspan(first, n);
    std::vector<models::SiteWindow> sites;
    const models::Outputs outputs = run(part, sites);
    for (std::size_t i = 0; i < n; ++i)
      to.push_back(score_allele(part[i], reference, {model_, outputs, sites, i, n}));
  });
}

AlleleScores WindowScorer::score_allele(const Allele& allele, const Predictions& reference,
                                        const Predictions& alternate) {
  const Variant& variant = variants_[allele.variant];
  const std::int64_t base = variant.position - window_.begin;
  const std::int64_t n_reference = std::ssize(variant.ref_codes);
  const std::int64_t n_alternate = std::ssize(variant.alts[allele.alt].codes);
  const AlleleShift shift = find_shift(base, n_reference, n_alternate);
  AlleleScores scores{allele.variant, allele.alt, window_, {}};
  for (std::size_t i = 0; i < options_.scorers.size(); ++i) {
    const Scorer& scorer = options_.scorers[i];
    const std::string head = scorer.head();
    const models::TrackHead& loaded = *models::find_head(model_.info().heads, head);
    if (scorer.kind == Scorer::Kind::splice_junction) {
      add_junctions(i, allele, shift, reference.sites.front(), alternate.sites[alternate.window],
                    scores.rows);
      continue;
    }
    const TrackRows before = reference.rows(head), now = alternate.rows(head);
    switch (scorer.kind) {
      case Scorer::Kind::centre_mask:
        scores.rows.push_back({i,
                               {},
                               aggregate(scorer.aggregation, before, now,
                                         centre_mask(base, scorer.width, loaded.bins))});
        break;
      case Scorer::Kind::contact_map:
        if (n_reference == n_alternate)
          scores.rows.push_back(
              {i,
               {},
               score_contacts(before, now, loaded.row_shape.front(), base / loaded.bins.bin_size)});
        break;
      case Scorer::Kind::polyadenylation:
        add_polyadenylation(i, variant, allele.alt, before, AlignedRows(now, shift), scores.rows);
        break;
      case Scorer::Kind::gene_splicing:
        add_genes(i, bodies(variant, allele.alt), before, AlignedRows(now, shift), scores.rows);
        break;
      default:
        add_genes(i, exons(), before, AlignedRows(now, shift), scores.rows);
    }
  }
  return scores;
}

void WindowScorer::add_genes(std::size_t scorer, const std::vector<GeneRows>& genes,
                             const TrackRows& reference, const AlignedRows& alternate,
                             std::vector<ScoreRow>& rows) const {
  const Scorer::Kind kind = options_.scorers[scorer].kind;
  const GeneScore score = kind == Scorer::Kind::gene_lfc      ? GeneScore::log_fold_change
                          : kind == Scorer::Kind::gene_active ? GeneScore::active
                                                              : GeneScore::splicing;
  for (const GeneRows& gene : genes)
    rows.push_back({scorer, gene.gene, score_gene(score, reference, alternate, gene.mask)});
}

void WindowScorer::add_polyadenylation(std::size_t scorer, const Variant& variant, std::size_t alt,
                                       const TrackRows& reference, const AlignedRows& alternate,
                                       std::vector<ScoreRow>& rows) const {
  for (const std::size_t gene : overlapped_genes(variant, alt)) {
    const genome::AnnotatedGene& annotated = options_.genes->genes()[gene];
    std::vector<PolyaSite> sites;
    for (const genome::Span& site : options_.polya->sites_of(annotated))
      sites.push_back({site.begin - window_.begin, site.end - window_.begin});
    sites = sites_in_window(std::move(sites), window_.size());
    if (sites.empty()) continue;
    std::vector<RowMask> masks;
    for (const PolyaSite& site : sites)
      masks.push_back(site_mask(site, annotated.strand, window_.size()));
    rows.push_back({scorer, gene, score_polyadenylation(reference, alternate, masks)});
  }
}

// Genes of which a transcript starts in the window.
const std::vector<GeneRows>& WindowScorer::exons() {
  if (!exons_) exons_ = exon_rows(*options_.genes, window_, 0, 1);
  return *exons_;
}

// Introns of the window between sites of both alleles and of the annotation.
void WindowScorer::add_junctions(std::size_t scorer, const Allele& allele, const AlleleShift& shift,
                                 const models::SiteWindow& reference,
                                 const models::SiteWindow& alternate, std::vector<ScoreRow>& rows) {
  constexpr std::int64_t kClasses = models::kSpliceSiteClasses + 1;
  const std::vector<genome::AnnotatedGene>& genes = options_.genes->genes();
  std::vector<BinRange> bodies;
  std::vector<std::size_t> coding;
  for (const std::size_t gene : overlapped_genes(variants_[allele.variant], allele.alt)) {
    const genome::Span& body = genes[gene].body;
    bodies.push_back({body.begin - window_.begin, body.end - window_.begin});
    if (genes[gene].type == "protein_coding" && genes[gene].strand != '.') coding.push_back(gene);
  }
  if (coding.empty()) return;
  const auto rows_of = [&](const models::SiteWindow& of_window) {
    const io::SharedArray& values = of_window.probabilities;
    return TrackRows{{values.begin(), values.size()}, kClasses};
  };
  const models::SpliceSites sites = model_.select_sites(
      unite_sites(rows_of(reference), AlignedRows(rows_of(alternate), shift), annotated_sites(),
                  make_mask(std::move(bodies), window_.size())));
  const auto count = [&](const models::SiteWindow& of_window, const AlleleShift& of_allele) {
    return model_.run_junctions(of_window, sites, find_site_rows(sites, of_allele, window_.size()));
  };
  const models::Outputs before = count(reference, {}), now = count(alternate, shift);
  const auto counts = [](const models::Outputs& outputs) {
    const models::Outputs::Array& array = outputs.at("junctions");
    return JunctionCounts{
        {array.values.begin(), array.values.size()}, array.shape[1], array.shape[2] / 2};
  };
  for (const std::size_t gene : coding) {
    const genome::Span& body = genes[gene].body;
    for (JunctionScore& score :
         score_junctions(sites, counts(before), counts(now), genes[gene].strand,
                         {body.begin - window_.begin, body.end - window_.begin}))
      rows.push_back(
          {scorer, gene, std::move(score.values),
           genome::Span{window_.begin + score.intron.begin, window_.begin + score.intron.end}});
  }
}

std::vector<models::SpliceSite> WindowScorer::annotated_sites() const {
  std::vector<models::SpliceSite> sites;
  for (const genome::AnnotatedSite& site :
       options_.genes->splice_sites(window_.contig, window_.begin, window_.end))
    sites.push_back(
        {(site.strand == '-' ? 2u : 0u) + (site.is_donor ? 0u : 1u), site.base - window_.begin});
  return sites;
}

std::vector<std::size_t> WindowScorer::overlapped_genes(const Variant& variant,
                                                        std::size_t alt) const {
  const std::int64_t n_letters =
      std::max(std::ssize(variant.ref_codes), std::ssize(variant.alts[alt].codes));
  return options_.genes->overlapping(variant.contig, variant.position,
                                     variant.position + n_letters);
}

std::vector<GeneRows> WindowScorer::bodies(const Variant& variant, std::size_t alt) const {
  std::vector<GeneRows> genes;
  for (const std::size_t gene : overlapped_genes(variant, alt)) {
    const genome::Span& body = options_.genes->genes()[gene].body;
    genes.push_back({gene, make_mask({{body.begin - window_.begin, body.end - window_.begin}},
                                     window_.size())});
  }
  return genes;
}

}  // namespace

Window scored_window(const Variant& variant, std::int64_t grid, std::int64_t length) {
  if (grid > 1) return place_window(variant, grid, length);
  const std::int64_t middle = variant.position + (std::ssize(variant.ref_codes) + 1) / 2;
  const std::int64_t begin = std::min(middle - length / 2, variant.position);
  return {variant.id, variant.contig, begin, begin + length};
}

std::vector<AlleleScores> score_variants(DnaModel& model, const genome::IndexedFasta& genome,
                                         std::span<const Variant> variants,
                                         const ScorerOptions& options) {
  std::vector<AlleleScores> scores;
  std::vector<Allele> alleles;  // of one window
  Window window;
  const auto finish = [&] {
    WindowScorer(model, genome, variants, options, window).score(alleles, scores);
    alleles.clear();
  };
  for (std::size_t v = 0; v < variants.size(); ++v) {
    const Window next = scored_window(variants[v], options.grid, model.info().window);
    if (next.contig != window.contig || next.begin != window.begin) finish();
    window = next;
    for (std::size_t alt = 0; alt < variants[v].alts.size(); ++alt)
      if (variants[v].alts[alt].kind == genome::AlleleKind::letters) alleles.push_back({v, alt});
  }
  finish();
  return scores;
}

}  // namespace biogpu::tasks
