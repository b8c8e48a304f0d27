// SAM and BAM from any bytes: an Error, or records whose names and qualities hold what they
// promise. CRAM is left out: its decoder in htslib 1.16 allocates by what a damaged file claims.
#include <algorithm>
#include <string>

#include "lib/core/error.hpp"
#include "lib/io/alignments/bam.hpp"
#include "lib/io/alignments/hts.hpp"
#include "lib/io/input/gzip.hpp"
#include "lib/io/sequence_reader.hpp"
#include "tests/fuzz/support/memory_file.hpp"

using namespace biogpu;
using fuzz::MemoryFile;
using fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n) {
  const std::string head(reinterpret_cast<const char*>(bytes), std::min<std::size_t>(n, 4096));
  const std::string text =
      head.starts_with("\x1f\x8b") ? io::input::inflate_head(head, 4096) : head;
  if (!io::input::is_hts(text) && !io::input::is_bam(text)) return 0;
  if (text.starts_with("CRAM")) return 0;
  const MemoryFile file(bytes, n);
  try {
    io::SequenceReader reader(file.path());
    io::SequenceBatch batch;
    while (reader.read(batch, {5, 1000})) {
      for (std::size_t i = 0; i < batch.size(); ++i) {
        require(!batch.name(i).empty(), "a name is empty");
        require(batch.quality(i).empty() || batch.quality(i).size() == batch.sequence(i).size(),
                "quality and sequence differ");
      }
    }
  } catch (const Error& error) {
    require(std::string_view(error.what()).starts_with(file.path()), "an error without its file");
  } catch (const std::bad_alloc&) {
    // A damaged length that htslib could not allocate.
  }
  return 0;
}
