#pragma once

#include <cstdint>
#include <span>

#include "lib/bio/genome/indexed_fasta.hpp"
#include "lib/bio/genome/variant.hpp"
#include "lib/bio/genome/window.hpp"

namespace biogpu::genome {

// The letters of a window as a haplotype has them. The window keeps its length where
// letters are inserted or deleted: the reference's letter `anchor` stays where it is, and edits
// right of it move what lies further right, over the window's right edge or in from behind it;
// edits left of it move what lies further left. An insertion in front of the anchor counts as right
// of it; an edit across the anchor takes its first letter for the anchor.
//
// edits: of the window's contig, sorted, none overlapping another; those that do not reach into the
// window do nothing. codes: as many as the window has.
void build_haplotype(const IndexedFasta& genome, const Window& window, std::span<const Edit> edits,
                     std::int64_t anchor, std::span<LetterCode> codes);

// The window of a variant with letter length / 2 at its position.
Window variant_window(const Variant& variant, std::int64_t length);

// The letters of a window with one ALT allele, of kind letters: anchored at the variant's position,
// cut or extended on the right.
void build_alternate(const IndexedFasta& genome, const Window& window, const Variant& variant,
                     std::size_t alt, std::span<LetterCode> codes);

}  // namespace biogpu::genome
