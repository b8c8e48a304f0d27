// Bloom counters: an Error, or a counter that answers for any k-mer and counts what is added.
#include "lib/kmer/database/jellyfish/bloom_counter.hpp"

#include <string_view>
#include <vector>

#include "lib/core/error.hpp"
#include "tests/fuzz/support/memory_file.hpp"
#include "tests/fuzz/support/mutate.hpp"

using namespace biogpu;
using fuzz::require;

namespace {

// The nine digits before the JSON object, which ends with the last brace.
void repair(std::string& content) {
  constexpr std::size_t kDigits = 9;
  const std::size_t end = content.rfind('}');
  if (end == std::string::npos || end < kDigits) return;
  const std::string digits = std::to_string(end + 1 - kDigits);
  content.replace(0, kDigits, std::string(kDigits - digits.size(), '0') + digits);
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  return fuzz::mutate_file(data, size, max_size, seed,
                           {fuzz::Layout::text, nullptr, nullptr, repair});
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n) {
  const fuzz::MemoryFile file(bytes, n);
  try {
    kmer::BloomCounter counter = kmer::BloomCounter::read(file.path());
    require(counter.k() >= 1 && counter.k() <= kmer::kMaxK, "k out of range");
    std::vector<std::uint64_t> key(8, n);
    require(counter.count(key.data()) <= 2, "a count above 2");
    counter.add(key.data(), 2);
    require(counter.count(key.data()) == 2, "what was added is not counted");
  } catch (const Error& error) {
    require(error.code() == ErrorCode::bad_input, "an error of another kind");
    require(std::string_view(error.what()).starts_with(file.path() + ": "),
            "an error without its file");
  }
  return 0;
}
