#include "lib/tasks/dna/scorers/variant_scorer.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "lib/bio/genome/haplotype.hpp"
#include "lib/tasks/dna/scorers/gene_mask.hpp"
#include "lib/tasks/dna/scorers/junction_scores.hpp"
#include "lib/tasks/dna/scorers/polyadenylation.hpp"
#include "lib/tasks/dna/scorers/predictions.hpp"
#include "lib/tasks/dna/scorers/score_reads.hpp"
#include "lib/tasks/dna/scorers/window_genes.hpp"
#include "lib/tasks/dna/variant_windows.hpp"
#include "lib/tasks/dna/window_parts.hpp"

namespace biogpu::tasks {
namespace {

using genome::Variant;
using genome::Window;
using models::DnaModel;

struct Allele {
  std::size_t variant = 0, alt = 0;
};

bool has_same_length(const AllelePlace& allele) {
  return allele.n_reference() == allele.n_alternate();
}

// Alleles of one window.
class WindowScorer {
 public:
  WindowScorer(DnaModel& model, const genome::IndexedFasta& genome,
               std::span<const Variant> variants, const ScorerOptions& options,
               const Window& window, bool keeps)
      : model_(model),
        genome_(genome),
        variants_(variants),
        options_(options),
        window_(window),
        keeps_(keeps),
        at_once_(static_cast<std::size_t>(options.windows_per_pass)),
        genes_(options.genes, options.polya, window) {}

  void score(std::span<const Allele> alleles, std::vector<AlleleScores>& to);

 private:
  using Indices = std::vector<std::size_t>;  // of alleles

  std::vector<std::uint8_t> letters_of(const Allele* allele) const;
  std::vector<std::uint8_t> letters_of(std::span<const Allele> alleles) const;
  AllelePlace place(const Allele& allele) const { return {variants_[allele.variant], allele.alt}; }
  void score_whole(std::span<const Allele> alleles, std::span<AlleleScores> to);
  void score_reads(std::span<const Allele> alleles, std::span<AlleleScores> to);
  void add_reads(const Allele& allele, const AlleleShift& shift, ScoreReads& reads);
  AlleleShift shift_of(const Allele& allele) const;
  AlleleScores score_allele(const Allele& allele, const Predictions& reference,
                            const Predictions& alternate);
  std::vector<float> score_centre(const Scorer& scorer, const BinRange& bins,
                                  const Predictions& reference, const Predictions& alternate) const;
  void add_junctions(std::size_t scorer, const Allele& allele, const AlleleShift& shift,
                     const Predictions& reference, const Predictions& alternate,
                     std::vector<ScoreRow>& rows) const;

  DnaModel& model_;
  const genome::IndexedFasta& genome_;
  const std::span<const Variant> variants_;
  const ScorerOptions& options_;
  const Window window_;
  const bool keeps_;  // what the model keeps of the reference
  const std::size_t at_once_;
  WindowGenes genes_;
};

// Without an allele, the letters are those of the reference.
std::vector<std::uint8_t> WindowScorer::letters_of(const Allele* allele) const {
  std::vector<std::uint8_t> letters(static_cast<std::size_t>(window_.size()));
  if (allele == nullptr)
    genome_.fetch(window_.contig, window_.begin, letters);
  else
    genome::build_alternate(genome_, window_, variants_[allele->variant], allele->alt, letters);
  std::replace(letters.begin(), letters.end(), genome::kUnknownLetter, options_.unknown);
  return letters;
}

std::vector<std::uint8_t> WindowScorer::letters_of(std::span<const Allele> alleles) const {
  std::vector<std::uint8_t> all;
  for (const Allele& allele : alleles) {
    const std::vector<std::uint8_t> letters = letters_of(&allele);
    all.insert(all.end(), letters.begin(), letters.end());
  }
  return all;
}

void WindowScorer::score(std::span<const Allele> alleles, std::vector<AlleleScores>& to) {
  if (alleles.empty()) return;
  std::vector<AlleleScores> scores(alleles.size());
  if (options_.reuse)
    score_reads(alleles, scores);
  else
    score_whole(alleles, scores);
  std::move(scores.begin(), scores.end(), std::back_inserter(to));
}

// Scores by all tracks of whole windows.
void WindowScorer::score_whole(std::span<const Allele> alleles, std::span<AlleleScores> to) {
  const bool has_junctions = std::any_of(
      options_.scorers.begin(), options_.scorers.end(),
      [](const Scorer& scorer) { return scorer.kind == Scorer::Kind::splice_junction; });
  const auto run = [&](const std::vector<std::uint8_t>& letters,
                       std::vector<models::SiteWindow>& sites) {
    DnaModel::Request request;
    if (has_junctions) request.sites = &sites;
    return model_.run(letters, request);
  };
  if (has_junctions) model_.reserve_sites(1 + at_once_);
  std::vector<models::SiteWindow> sites_of_reference;
  const models::Outputs of_reference = run(letters_of(nullptr), sites_of_reference);
  const Predictions reference{of_reference, sites_of_reference};
  run_in_parts(alleles.size(), at_once_, [&](std::size_t first, std::size_t n) {
    const std::span<const Allele> part = alleles.subspan(first, n);
    std::vector<models::SiteWindow> sites;
    const models::Outputs outputs = run(letters_of(part), sites);
    for (std::size_t i = 0; i < n; ++i)
      to[first + i] = score_allele(part[i], reference, {outputs, sites, i, n});
  });
}

AlleleShift WindowScorer::shift_of(const Allele& allele) const {
  const AllelePlace of_allele = place(allele);
  return find_shift(of_allele.variant.position - window_.begin, of_allele.n_reference(),
                    of_allele.n_alternate());
}

// By what scorers read.
void WindowScorer::score_reads(std::span<const Allele> alleles, std::span<AlleleScores> to) {
  ScoreReads reads_of_reference(model_);
  reads_of_reference.add_window();
  for (const Allele& allele : alleles) add_reads(allele, {}, reads_of_reference);
  if (reads_of_reference.has_sites()) model_.reserve_sites(1 + at_once_);
  const auto request_for = [](const ScoreReads& reads, std::vector<models::SiteWindow>& sites) {
    DnaModel::Request request = reads.request();
    if (reads.has_sites()) request.sites = &sites;
    return request;
  };
  const std::vector<std::uint8_t> letters = letters_of(nullptr);
  std::vector<models::SiteWindow> sites_of_reference;
  std::vector<models::KeptWindow> kept;
  models::Outputs of_reference;
  if (!reads_of_reference.empty()) {
    DnaModel::Request request = request_for(reads_of_reference, sites_of_reference);
    if (keeps_) request.kept = &kept;
    of_reference = model_.run(letters, request);
  }
  const Predictions reference{of_reference, sites_of_reference, 0, 1, &reads_of_reference};
  Indices near, other;
  for (std::size_t i = 0; i < alleles.size(); ++i) {
    const bool is_near = !kept.empty() && model_.is_near(letters, letters_of(&alleles[i]));
    (is_near ? near : other).push_back(i);
  }
  for (const Indices* group : {&near, &other})
    run_in_parts(group->size(), at_once_, [&](std::size_t first, std::size_t n) {
      std::vector<Allele> part;
      for (std::size_t i = first; i < first + n; ++i) part.push_back(alleles[(*group)[i]]);
      ScoreReads reads(model_);
      for (const Allele& allele : part) {
        reads.add_window();
        add_reads(allele, shift_of(allele), reads);
      }
      std::vector<models::SiteWindow> sites;
      const DnaModel::Request request = request_for(reads, sites);
      const std::vector<std::uint8_t> all = letters_of(part);
      std::vector<models::ChangedWindow> changed;
      for (std::size_t i = 0; group == &near && i < n; ++i)
        changed.push_back(
            {&kept.front(), std::span(all).subspan(i * letters.size(), letters.size())});
      models::Outputs outputs;
      if (!reads.empty())
        outputs = changed.empty() ? model_.run(all, request) : model_.run_changed(changed, request);
      for (std::size_t i = 0; i < n; ++i)
        to[(*group)[first + i]] = score_allele(part[i], reference, {outputs, sites, i, n, &reads});
    });
}

// What score_allele() reads of an allele, whose shift is given, or of the reference, without one.
void WindowScorer::add_reads(const Allele& allele, const AlleleShift& shift, ScoreReads& reads) {
  const AllelePlace of_allele = place(allele);
  const std::int64_t base = of_allele.variant.position - window_.begin;
  for (const Scorer& scorer : options_.scorers) {
    const std::string head = scorer.head();
    const models::TrackHead& loaded = *models::find_head(model_.info().heads, head);
    switch (scorer.kind) {
      case Scorer::Kind::centre_mask: {
        const BinRange bins = centre_mask(base, scorer.width, loaded.bins);
        if (is_of_sums(scorer.aggregation))
          reads.add_sums(head, make_mask({bins}, loaded.bins.n_bins));
        else
          reads.add_rows(head, bins);
        break;
      }
      case Scorer::Kind::contact_map: {
        if (!has_same_length(of_allele)) break;
        const std::int64_t bin = base / loaded.bins.bin_size;
        reads.add_rows(head, {bin, bin + 1});
        break;
      }
      case Scorer::Kind::splice_junction:
        for (const BinRange& range : genes_.junction_mask(of_allele)) {
          const BinRange bases = find_sources(shift, range, window_.size()).rows;
          reads.add_sites(bases.begin < bases.end ? bases : range);
        }
        break;
      case Scorer::Kind::polyadenylation:
        for (const WindowGenes::PolyaMasks& gene : genes_.polya_masks(of_allele))
          for (const RowMask& mask : gene.sites) reads.add_sums(head, mask, shift);
        break;
      case Scorer::Kind::gene_splicing:
        for (const GeneRows& gene : genes_.bodies(of_allele))
          for (const BinRange& rows : gene.mask)
            reads.add_rows(head, find_sources(shift, rows, loaded.bins.n_bins).rows);
        break;
      default:
        for (const GeneRows& gene : genes_.exons()) reads.add_sums(head, gene.mask, shift);
    }
  }
}

AlleleScores WindowScorer::score_allele(const Allele& allele, const Predictions& reference,
                                        const Predictions& alternate) {
  const AllelePlace of_allele = place(allele);
  const std::int64_t base = of_allele.variant.position - window_.begin;
  const AlleleShift shift = shift_of(allele);
  AlleleScores scores{allele.variant, allele.alt, window_, {}};
  for (std::size_t i = 0; i < options_.scorers.size(); ++i) {
    const Scorer& scorer = options_.scorers[i];
    const std::string head = scorer.head();
    const models::TrackHead& loaded = *models::find_head(model_.info().heads, head);
    const auto add = [&](std::optional<std::size_t> gene, std::vector<float> values) {
      scores.rows.push_back({i, gene, std::move(values)});
    };
    switch (scorer.kind) {
      case Scorer::Kind::centre_mask:
        add({}, score_centre(scorer, centre_mask(base, scorer.width, loaded.bins), reference,
                             alternate));
        break;
      case Scorer::Kind::contact_map:
        if (has_same_length(of_allele)) {
          const std::int64_t bin = base / loaded.bins.bin_size;
          const std::vector<float> before = reference.contacts(loaded, bin);
          const std::vector<float> now = alternate.contacts(loaded, bin);
          const std::int64_t n_tracks = std::ssize(before) / loaded.row_shape.front();
          add({}, score_contacts({before, n_tracks}, {now, n_tracks}));
        }
        break;
      case Scorer::Kind::splice_junction:
        add_junctions(i, allele, shift, reference, alternate, scores.rows);
        break;
      case Scorer::Kind::polyadenylation:
        for (const WindowGenes::PolyaMasks& gene : genes_.polya_masks(of_allele)) {
          std::vector<std::vector<double>> before, now;
          for (const RowMask& mask : gene.sites) {
            before.push_back(reference.sum(head, mask, {}));
            now.push_back(alternate.sum(head, mask, shift));
          }
          add(gene.gene, score_polyadenylation(before, now));
        }
        break;
      case Scorer::Kind::gene_splicing:
        for (const GeneRows& gene : genes_.bodies(of_allele))
          add(gene.gene, score_splicing(reference.rows(head),
                                        AlignedRows(alternate.rows(head), shift), gene.mask));
        break;
      default:
        for (const GeneRows& gene : genes_.exons())
          add(gene.gene,
              score_gene(scorer.kind == Scorer::Kind::gene_lfc ? GeneScore::log_fold_change
                                                               : GeneScore::active,
                         reference.sum(head, gene.mask, {}), alternate.sum(head, gene.mask, shift),
                         count_rows(gene.mask)));
    }
  }
  return scores;
}

// Alleles are not aligned.
std::vector<float> WindowScorer::score_centre(const Scorer& scorer, const BinRange& bins,
                                              const Predictions& reference,
                                              const Predictions& alternate) const {
  const std::string head = scorer.head();
  if (!is_of_sums(scorer.aggregation))
    return aggregate(scorer.aggregation, reference.rows(head), alternate.rows(head), bins);
  const RowMask mask = make_mask({bins}, bins.end);
  return aggregate_sums(scorer.aggregation, reference.sum(head, mask, {}),
                        alternate.sum(head, mask, {}), count_rows(mask));
}

// Introns of the window between sites of both alleles and of the annotation.
void WindowScorer::add_junctions(std::size_t scorer, const Allele& allele, const AlleleShift& shift,
                                 const Predictions& reference_window,
                                 const Predictions& alternate_window,
                                 std::vector<ScoreRow>& rows) const {
  constexpr std::int64_t kClasses = models::kSpliceSiteClasses + 1;
  const RowMask mask = genes_.junction_mask(place(allele));
  if (mask.empty()) return;
  const models::SiteWindow& reference = reference_window.sites[reference_window.window];
  const models::SiteWindow& alternate = alternate_window.sites[alternate_window.window];
  const auto rows_of = [&](const models::SiteWindow& of_window) {
    const io::SharedArray& values = of_window.probabilities;
    return TrackRows{{values.begin(), values.size()}, kClasses, of_window.first, window_.size()};
  };
  const std::vector<float> united = unite_sites(
      rows_of(reference), AlignedRows(rows_of(alternate), shift), genes_.annotated_sites(), mask);
  const models::SpliceSites sites = model_.select_sites(united);
  const bool has_nan =
      std::any_of(united.begin(), united.end(), [](float p) { return std::isnan(p); });
  const auto count = [&](const models::SiteWindow& of_window, const AlleleShift& of_allele) {
    return model_.run_junctions(of_window, sites, find_site_rows(sites, of_allele, window_.size()));
  };
  const models::Outputs before = count(reference, {}), now = count(alternate, shift);
  const auto counts = [](const models::Outputs& outputs) {
    const models::Outputs::Array& array = outputs.at("junctions");
    return JunctionCounts{
        {array.values.begin(), array.values.size()}, array.shape[1], array.shape[2] / 2};
  };
  for (const std::size_t gene : genes_.coding(place(allele))) {
    const genome::AnnotatedGene& annotated = genes_.gene(gene);
    const genome::Span& body = annotated.body;
    for (JunctionScore& score :
         score_junctions(sites, counts(before), counts(now), annotated.strand,
                         {body.begin - window_.begin, body.end - window_.begin})) {
      // Counts between sites that are unknown are no result.
      if (has_nan)
        std::fill(score.values.begin(), score.values.end(),
                  std::numeric_limits<float>::quiet_NaN());
      rows.push_back(
          {scorer, gene, std::move(score.values),
           genome::Span{window_.begin + score.intron.begin, window_.begin + score.intron.end}});
    }
  }
}

// Makes room for what the model keeps of a reference, if there is enough.
bool keeps_reference(DnaModel& model, const ScorerOptions& options) {
  const std::uint64_t kept = kept_bytes(model);
  if (!options.reuse || kept == 0 || std::min(options.max_kept_bytes, model.room_for_kept()) < kept)
    return false;
  model.reserve_kept(1);
  return true;
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
  const bool keeps = keeps_reference(model, options);
  const auto finish = [&] {
    WindowScorer(model, genome, variants, options, window, keeps).score(alleles, scores);
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
