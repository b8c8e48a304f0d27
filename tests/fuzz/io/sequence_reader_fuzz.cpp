// FASTA and FASTQ, plain, gzip and BGZF, from any bytes: an Error, or records that hold what they
// promise, that are the same for one thread and two, and that read back equal after they were
// written.
#include "lib/io/sequence_reader.hpp"

#include <algorithm>
#include <string>

#include "lib/core/error.hpp"
#include "lib/io/alignments/bam.hpp"
#include "lib/io/alignments/hts.hpp"
#include "lib/io/input/gzip.hpp"
#include "lib/io/input/text_source.hpp"
#include "lib/io/records/scan.hpp"
#include "tests/fuzz/support/memory_file.hpp"

using namespace biogpu;
using fuzz::MemoryFile;
using fuzz::require;

namespace {

void check_record(const io::SequenceBatch& batch, std::size_t i) {
  const std::string_view sequence = batch.sequence(i);
  require(!batch.name(i).empty(), "a name is empty");
  require(io::input::count_residues(sequence.data(), sequence.size()) == sequence.size(),
          "a sequence holds what is no residue");
  const std::string_view quality = batch.quality(i);
  require(quality.empty() || quality.size() == sequence.size(), "quality and sequence differ");
}

// The records as FASTQ where the first has a quality, else as FASTA.
std::string read_as_text(const std::string& path, int n_threads, const io::BatchLimits& limits,
                         std::size_t chunk_bytes = io::SequenceReader::kChunkBytes) {
  io::SequenceReader reader(path, n_threads, false, chunk_bytes);
  io::SequenceBatch batch;
  std::string text;
  bool is_fastq = false;
  while (reader.read(batch, limits)) {
    for (std::size_t i = 0; i < batch.size(); ++i) {
      check_record(batch, i);
      if (text.empty()) is_fastq = !batch.quality(i).empty();
      text += is_fastq ? '@' : '>';
      text.append(batch.name(i)).append(" ").append(batch.comment(i)).append("\n");
      text.append(batch.sequence(i)).append("\n");
      if (is_fastq) text.append("+\n").append(batch.quality(i)).append("\n");
    }
  }
  return text;
}

// The records, or the error in their place.
std::string read_or_error(const std::string& path, int n_threads, std::size_t chunk_bytes) {
  try {
    return read_as_text(path, n_threads, {3, 100}, chunk_bytes);
  } catch (const Error& error) {
    return error.what();
  }
}

// SAM, BAM and CRAM are hts_input_fuzz's.
bool is_alignment_file(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  return io::input::is_hts(text) || io::input::is_bam(text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n) {
  const std::string head(reinterpret_cast<const char*>(bytes), std::min<std::size_t>(n, 4096));
  if (is_alignment_file(head) || is_alignment_file(io::input::inflate_head(head, 4096))) return 0;
  const MemoryFile file(bytes, n);
  // Of compressed text that is damaged and malformed too, either error may come first.
  if (n > 30 && n % 4 == 0 && !head.starts_with(io::input::kGzipMagic))
    require(read_or_error(file.path(), 2, 8 + n % 50) == read_or_error(file.path(), 1, 1),
            "threads read other records, or another error, than one alone");
  try {
    const std::string text = read_as_text(file.path(), n % 16 == 0 ? 2 : 1, {3, 100});
    const MemoryFile copy(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
    // A first record named such as "SQ\t" makes the copy look like SAM.
    if (io::input::is_hts(text)) return 0;
    require(read_as_text(copy.path(), 1, {}) == text, "written records read back differently");
  } catch (const Error& error) {
    require(error.code() == ErrorCode::bad_input || error.code() == ErrorCode::failed,
            "an error of another kind");
    require(std::string_view(error.what()).starts_with(file.path()), "an error without its file");
  }
  return 0;
}
