#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace biogpu::kmer {

// Bottom sketches as Mash makes them (B. Ondov et al., doi:10.1186/s13059-016-0997-x): the smallest
// hashes of the canonical k-mers of a set of sequences.
inline constexpr int kMaxSketchK = 32;
inline constexpr std::size_t kMaxSketchSize = 100'000'000;

struct SketchOptions {
  int k = 21;  // up to kMaxSketchK
  std::size_t size = 1000;
  std::uint32_t seed = 42;
};

struct Sketch {
  std::string name;
  std::uint64_t length = 0;           // letters of all sequences
  std::vector<std::uint64_t> hashes;  // ascending, distinct, at most SketchOptions::size
};

// The first 64 bits of MurmurHash3 x64 128 (A. Appleby, public domain) of some bytes.
std::uint64_t murmur_hash(std::string_view bytes, std::uint32_t seed);

// Adds a sequence at a time and keeps the smallest hashes.
class Sketcher {
 public:
  explicit Sketcher(const SketchOptions& options) : options_(options) {}

  void add(std::string_view sequence);
  void add(const Sketcher& other);
  // length: letters of all sequences, of which pieces that overlap may have been added.
  Sketch finish(const std::string& name, std::uint64_t length);

 private:
  void shrink();

  SketchOptions options_;
  std::vector<std::uint64_t> keys_;
  std::uint64_t limit_ = UINT64_MAX;  // hashes above are in no sketch
  std::vector<std::uint64_t> hashes_;
};

// What `mash dist` reports of two sketches. Two without hashes are alike, as Mash has it.
struct SketchDistance {
  std::uint64_t n_common = 0;
  std::uint64_t n_compared = 0;  // smallest hashes of the union
  double jaccard = 0;
  double distance = 1;     // -ln(2j / (1 + j)) / k
  double p_value = 1;      // of so many common hashes or more by chance
  double containment = 0;  // share of the second's hashes among those compared that are common
};
SketchDistance compare(const Sketch& a, const Sketch& b, const SketchOptions& options);

// A file of sketches, JSON: docs/formats/sketch.md.
std::string sketches_as_json(const std::vector<Sketch>& sketches, const SketchOptions& options);
// Throws Error{bad_input} that begins with label.
std::vector<Sketch> parse_sketches(const std::string& text, const std::string& label,
                                   SketchOptions& options);

}  // namespace biogpu::kmer
