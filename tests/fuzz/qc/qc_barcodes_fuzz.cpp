// Lists of barcodes from any bytes: an Error whose text is short, or barcodes of four letters.
#include <string>
#include <string_view>

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
  try {
    for (const std::string& barcode : qc::read_index_list(file.path()))
      require(barcode.find_first_not_of("ACGT") == std::string::npos, "a barcode of other letters");
  } catch (const Error& error) {
    const std::string_view text = error.what();
    require(text.starts_with(file.path()), "an error without its file");
    require(text.size() < 500, "an error that shows a whole line");
  }
  return 0;
}
