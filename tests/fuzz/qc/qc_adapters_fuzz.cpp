// Lists of adapters from any bytes: an Error, or sequences that a read may end with.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "lib/core/error.hpp"
#include "lib/qc/options/options.hpp"
#include "tests/fuzz/support/memory_file.hpp"
#include "tests/fuzz/support/mutate.hpp"

using namespace biogpu;
using fuzz::MemoryFile;
using fuzz::require;

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  return fuzz::mutate_file(data, size, max_size, seed, {.layout = fuzz::Layout::text});
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n) {
  const MemoryFile file(bytes, n);
  const auto is_letter = [](char c) { return (c >= 'A' && c <= 'Z') || c == '-' || c == '*'; };
  try {
    std::vector<std::string> remarks;
    const auto profile = n % 2 == 0 ? qc::Profile::fastp_0_23 : qc::Profile::fastp_1;
    for (const std::string& adapter : qc::read_adapter_fasta(file.path(), profile, remarks)) {
      require(adapter.size() >= 6, "an adapter is too short");
      require(std::all_of(adapter.begin(), adapter.end(), is_letter), "an adapter of no letters");
    }
  } catch (const Error& error) {
    require(std::string_view(error.what()).starts_with(file.path()), "an error without its file");
  }
  return 0;
}
