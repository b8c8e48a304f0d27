#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lib/bio/genome/letters.hpp"

struct bcf1_t;

namespace biogpu::genome {

enum class AlleleKind {
  letters,    // DNA that replaces REF
  symbolic,   // <DEL>, a breakend, IUPAC-less text: nothing that can be put into a sequence
  no_change,  // '*' (deleted by another record), <*> and <NON_REF> (any other allele), '.'
};

struct AltAllele {
  std::string text;
  AlleleKind kind = AlleleKind::letters;
  std::vector<LetterCode> codes;  // of kind letters
};

// The alleles that a sample has, one a haplotype: 0 is REF, n is ALT n, -1 is missing.
struct Genotype {
  std::vector<int> alleles;
  bool phased = false;  // also where it has one allele, or all are equal

  bool has_missing() const {
    return std::find(alleles.begin(), alleles.end(), -1) != alleles.end();
  }
  // Whether it is known which haplotype has which allele.
  bool tells_haplotypes() const { return phased && !has_missing(); }

  bool operator==(const Genotype&) const = default;
};

// A line that a header lacks for a record: that of a tag or a sequence that it does not define.
struct MissingDefinition {
  std::string name;  // "INFO/AC", "contig/chr1"
  std::string line;
};

// A record of VCF or BCF.
struct Variant {
  std::uint64_t record = 0;   // number in the file, from 1
  std::size_t contig = 0;     // of the genome
  std::int64_t position = 0;  // of the first letter of REF, from 0
  std::string id;             // "." where there is none
  std::string ref;
  std::vector<LetterCode> ref_codes;
  std::vector<AltAllele> alts;
  std::vector<Genotype> genotypes;  // one a chosen sample
  // For annotated output: the record as htslib has it; what htslib added to the header for it and
  // those passed over before it.
  std::shared_ptr<bcf1_t> source;
  std::vector<MissingDefinition> missing_definitions;
  // False: nothing of it is to be scored; given out only where sources are kept.
  bool is_scored = true;
};

// Letters [begin, end) of a contig replaced by others: what is left of REF and ALT without their
// common beginning and, after that, their common end. An insertion has begin == end.
struct Edit {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::vector<LetterCode> letters;

  bool operator==(const Edit&) const = default;
};

Edit make_edit(std::int64_t position, const std::vector<LetterCode>& ref,
               const std::vector<LetterCode>& alt);

}  // namespace biogpu::genome
