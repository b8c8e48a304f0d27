#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace biogpu::kmer {

// What a k-mer spectrum says at a glance. counts[i]: k-mers that occur i times.
struct Spectrum {
  std::uint64_t valley = 0;  // between errors and the genome; 0: none found
  std::uint64_t peak = 0;    // multiplicity of the k-mers that occur once in the genome
  double genome_size = 0;    // k-mers from the valley on, with multiplicity, over the peak
};
Spectrum read_spectrum(const std::vector<std::uint64_t>& counts);

// The spectrum as one SVG image with a logarithmic axis, without scripts or fonts; the
// same bytes for the same counts.
std::string spectrum_svg(const std::vector<std::uint64_t>& counts, const std::string& title);

}  // namespace biogpu::kmer
