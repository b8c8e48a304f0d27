// Sketch files: an Error, or sketches that compare and that read back equal after they were
// written.
#include <string_view>

#include "lib/core/error.hpp"
#include "lib/kmer/minhash_sketch.hpp"
#include "tests/fuzz/support/memory_file.hpp"
#include "tests/fuzz/support/mutate.hpp"

using namespace biogpu;
using fuzz::require;

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  return fuzz::mutate_file(data, size, max_size, seed, {fuzz::Layout::text});
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n) {
  const std::string text(reinterpret_cast<const char*>(bytes), n);
  try {
    kmer::SketchOptions options;
    const auto sketches = kmer::parse_sketches(text, "s.json", options);
    for (const kmer::Sketch& sketch : sketches) {
      const kmer::SketchDistance same = kmer::compare(sketch, sketch, options);
      require(same.distance == 0, "a sketch is far from itself");
      const kmer::SketchDistance d = kmer::compare(sketches[0], sketch, options);
      require(d.distance >= 0 && d.distance <= 1, "a distance out of range");
      require(d.p_value >= 0 && d.p_value <= 1.0001, "a probability out of range");
    }
    kmer::SketchOptions again;
    const auto copy =
        kmer::parse_sketches(kmer::sketches_as_json(sketches, options), "s.json", again);
    require(copy.size() == sketches.size() && again.k == options.k, "a copy differs");
    for (std::size_t i = 0; i < copy.size(); ++i)
      require(copy[i].hashes == sketches[i].hashes, "hashes differ in a copy");
  } catch (const Error& error) {
    require(error.code() == ErrorCode::bad_input, "an error of another kind");
    require(std::string_view(error.what()).starts_with("s.json: "), "an error without its file");
  }
  return 0;
}
