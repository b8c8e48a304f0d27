#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lib/tasks/dna/scorers/centre_mask.hpp"

namespace biogpu::tasks {

// The head that DeepMind's client calls so: "rna_seq/1" of "RNA_SEQ".
std::string head_of_output(const std::string& output_type);

// "all", which is 0, or one of the widths of masks. option begins the Error{usage} of another text.
std::int64_t parse_mask_width(std::string_view text, const std::string& option);

// One way to score a variant by what AlphaGenome predicts of both alleles.
struct Scorer {
  enum class Kind {
    centre_mask,      // bins around the variant
    contact_map,      // contacts of the variant's bin
    gene_lfc,         // exons of each gene
    gene_active,      // the same
    gene_splicing,    // bodies of genes that overlap the variant
    polyadenylation,  // sites of genes that overlap the variant
    splice_junction,  // introns of coding genes that overlap the variant
  };
  std::string name;  // "ATAC", "RNA_SEQ:10001:L2_DIFF"
  Kind kind = Kind::centre_mask;
  std::string output_type;  // "RNA_SEQ"
  // Of a centre mask.
  std::int64_t width = 0;  // bases; 0: all of the window
  Aggregation aggregation = Aggregation::diff_log2_sum;

  std::string head() const { return head_of_output(output_type); }  // that it reads
  // "CenterMaskScorer(requested_output=ATAC, width=501, aggregation_type=DIFF_LOG2_SUM)", as
  // DeepMind's client writes it.
  std::string describe() const;
  bool needs_genes() const { return kind != Kind::centre_mask && kind != Kind::contact_map; }
};

// The recommended scorers, in the order of DeepMind's client.
const std::vector<Scorer>& recommended_scorers();

// A name of the recommended ones, or OUTPUT:WIDTH:AGGREGATION for another centre mask, where WIDTH
// is all or a number of bases. Throws Error{usage} for what is neither.
Scorer parse_scorer(const std::string& text);

}  // namespace biogpu::tasks
