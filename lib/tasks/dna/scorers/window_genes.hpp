#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "lib/bio/genome/genes/gene_annotation.hpp"
#include "lib/bio/genome/genes/polya_table.hpp"
#include "lib/bio/genome/variant.hpp"
#include "lib/bio/genome/window.hpp"
#include "lib/models/base/splice_sites.hpp"
#include "lib/tasks/dna/scorers/interval_scorer.hpp"

namespace biogpu::tasks {

// Where an ALT allele of a variant is.
struct AllelePlace {
  const genome::Variant& variant;
  std::size_t alt = 0;

  std::int64_t n_reference() const { return std::ssize(variant.ref_codes); }
  std::int64_t n_alternate() const { return std::ssize(variant.alts[alt].codes); }
};

// The genes of a window, as scorers mask its bases by them. Tables may be null where no scorer
// needs them, and must outlive it.
class WindowGenes {
 public:
  WindowGenes(const genome::GeneAnnotation* genes, const genome::PolyaTable* polya,
              const genome::Window& window)
      : genes_(genes), polya_(polya), window_(window) {}

  // Sites of polyadenylation of a gene.
  struct PolyaMasks {
    std::size_t gene = 0;
    std::vector<RowMask> sites;
  };

  const genome::AnnotatedGene& gene(std::size_t index) const { return genes_->genes()[index]; }
  // Exons of genes with a transcript that starts in the window.
  const std::vector<GeneRows>& exons();
  // Bodies of genes that an allele overlaps.
  std::vector<GeneRows> bodies(const AllelePlace& allele) const;
  std::vector<PolyaMasks> polya_masks(const AllelePlace& allele) const;
  // Genes that code for proteins.
  std::vector<std::size_t> coding(const AllelePlace& allele) const;
  // The bodies of all genes that an allele overlaps, where one of them is coding.
  RowMask junction_mask(const AllelePlace& allele) const;
  // Ends of introns in the window.
  std::vector<models::SpliceSite> annotated_sites() const;

 private:
  std::vector<std::size_t> overlapped(const AllelePlace& allele) const;

  const genome::GeneAnnotation* const genes_;
  const genome::PolyaTable* const polya_;
  const genome::Window window_;
  std::optional<std::vector<GeneRows>> exons_;
};

}  // namespace biogpu::tasks
