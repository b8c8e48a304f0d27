#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lib/io/lazy_text.hpp"
#include "lib/models/base/tokenizer.hpp"
#include "lib/tasks/batching.hpp"

namespace biogpu::tasks {

// One residue replaced. position: index of its token, so that residue 1 has position 1.
struct Substitution {
  std::int32_t position = 0;
  std::int32_t from = 0;  // ids
  std::int32_t to = 0;
};

struct Variant {
  std::string text;                         // "A1C:D5E", as given
  std::uint64_t line = 0;                   // of the file, 0 where it has none
  std::vector<Substitution> substitutions;  // empty: the wild type ("WT", "_wt")
};

// Variants of a table: by name of the sequence, or of every sequence under "".
using VariantTable = std::unordered_map<std::string, std::vector<Variant>>;

// A table, plain or gzip, with tabs, commas, semicolons or blanks between its fields, which may
// stand in quotes. With a column called mutant (or mutation, variant, mutations, variants,
// protein_variant) in its first line, and perhaps one called name (or id, protein, target,
// uniprot_id), those are read; without, tabs or commas separate, the only or last column holds
// variants and, of two or more, the first holds names. Lines may have a field more than a first
// line of names: R's row names. Errors: Error{bad_input} with file and line, also for an empty
// field of these columns, or for a table without a variant; Error{failed}.
VariantTable read_variants(const std::string& path);

// Finds the residues of a variant's text in a sequence. first: the number of its first residue in
// the text. Throws Error{bad_input}, label in front, where a position lies outside or holds another
// residue.
void resolve_variant(Variant& variant, const models::Vocabulary& vocabulary, const Tokens& sequence,
                     std::int64_t first, LazyText label);

// Positions of the residues that single_variants() replaces; a mask has no wild type.
std::vector<std::int32_t> single_positions(const models::Vocabulary& vocabulary,
                                           const Tokens& sequence);

// Every residue replaced by each of the other 19 usual ones, position by position in the order of
// ACDEFGHIKLMNPQRSTVWY.
std::vector<Variant> single_variants(const models::Vocabulary& vocabulary, const Tokens& sequence,
                                     std::int64_t first);

}  // namespace biogpu::tasks
