#include "lib/tasks/dna/scorers/window_genes.hpp"

#include <algorithm>
#include <utility>

#include "lib/tasks/dna/scorers/polyadenylation.hpp"

namespace biogpu::tasks {

std::vector<std::size_t> WindowGenes::overlapped(const AllelePlace& allele) const {
  const std::int64_t n_letters = std::max(allele.n_reference(), allele.n_alternate());
  const genome::Variant& variant = allele.variant;
  return genes_->overlapping(variant.contig, variant.position, variant.position + n_letters);
}

const std::vector<GeneRows>& WindowGenes::exons() {
  if (!exons_) exons_ = exon_rows(*genes_, window_, 0, 1);
  return *exons_;
}

std::vector<GeneRows> WindowGenes::bodies(const AllelePlace& allele) const {
  std::vector<GeneRows> genes;
  for (const std::size_t index : overlapped(allele)) {
    const genome::Span& body = gene(index).body;
    genes.push_back({index, make_mask({{body.begin - window_.begin, body.end - window_.begin}},
                                      window_.size())});
  }
  return genes;
}

std::vector<WindowGenes::PolyaMasks> WindowGenes::polya_masks(const AllelePlace& allele) const {
  std::vector<PolyaMasks> genes;
  for (const std::size_t index : overlapped(allele)) {
    std::vector<PolyaSite> sites;
    for (const genome::Span& site : polya_->sites_of(gene(index)))
      sites.push_back({site.begin - window_.begin, site.end - window_.begin});
    sites = sites_in_window(std::move(sites), window_.size());
    if (sites.empty()) continue;
    genes.push_back({index, {}});
    for (const PolyaSite& site : sites)
      genes.back().sites.push_back(site_mask(site, gene(index).strand, window_.size()));
  }
  return genes;
}

std::vector<std::size_t> WindowGenes::coding(const AllelePlace& allele) const {
  std::vector<std::size_t> coding;
  for (const std::size_t index : overlapped(allele))
    if (gene(index).type == "protein_coding" && gene(index).strand != '.') coding.push_back(index);
  return coding;
}

RowMask WindowGenes::junction_mask(const AllelePlace& allele) const {
  if (coding(allele).empty()) return {};
  std::vector<BinRange> ranges;
  for (const std::size_t index : overlapped(allele)) {
    const genome::Span& body = gene(index).body;
    ranges.push_back({body.begin - window_.begin, body.end - window_.begin});
  }
  return make_mask(std::move(ranges), window_.size());
}

std::vector<models::SpliceSite> WindowGenes::annotated_sites() const {
  std::vector<models::SpliceSite> sites;
  for (const genome::AnnotatedSite& site :
       genes_->splice_sites(window_.contig, window_.begin, window_.end))
    sites.push_back(
        {(site.strand == '-' ? 2u : 0u) + (site.is_donor ? 0u : 1u), site.base - window_.begin});
  return sites;
}

}  // namespace biogpu::tasks
