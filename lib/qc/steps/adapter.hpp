#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/qc/steps/mate.hpp"
#include "lib/qc/steps/overlap.hpp"

namespace biogpu::qc {

// Cuts the read where the adapter begins: the first position, a few bases before the read included,
// at which at most one base in 8 of those compared differs, at least match_require + 1 of them.
// Returns the text to report: what was cut, or the adapter's head where it begins before the read,
// which leaves an empty read. Empty when there is none.
// gapped: where there is none, one inserted or missing base is tried too, as fastp 1 does.
std::string_view trim_adapter(Mate& mate, std::string_view adapter, bool gapped = false,
                              int match_require = 4);

// Where an adapter of trim_adapter begins in a sequence, which is followed by 64 readable bytes;
// kNoAdapter when it does not. The second is the plain version.
inline constexpr int kNoAdapter = -1000000;
int find_adapter(const char* sequence, int length, std::string_view adapter, int match_require);
int find_adapter_ref(const char* sequence, int length, std::string_view adapter, int match_require);

// The first position looked at, negative: Illumina's adapter dimers often lack the adapter's first
// base. And whether the adapter lies at a position.
int first_adapter_position(std::size_t adapter_length);
bool adapter_matches(const char* sequence, int length, std::string_view adapter, int pos);

// fastp 1's second look: the adapter with one base more in the read, or one less. It compares from
// the first base of the read at every position, which only moves the cut; kept as it is.
int find_adapter_with_gap(std::string_view read, std::string_view adapter, int match_require);

// How many bases more than one must agree, of a list of so many adapters.
inline int fasta_match_require(std::size_t n_adapters) {
  return n_adapters > 256 ? 6 : n_adapters > 16 ? 5 : 4;
}

// Applies every adapter in turn to what the one before left. Appends what was cut, where wanted.
void trim_adapters(Mate& mate, const std::vector<std::string>& adapters, bool gapped,
                   std::vector<std::string_view>* cuts);

// Cuts both mates behind a fragment that is shorter than they are. cut1, cut2: what was cut.
// Returns false when the overlap shows no adapter.
bool trim_by_overlap(Mate& mate1, Mate& mate2, const Overlap& overlap, std::string_view& cut1,
                     std::string_view& cut2);

}  // namespace biogpu::qc
