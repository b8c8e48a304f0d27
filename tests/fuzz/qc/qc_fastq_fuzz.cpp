// FASTQ as `qc` reads it, plain and gzip, from any bytes: an Error, or records inside their chunk,
// the same ones however many are read at a time.
#include <string>
#include <string_view>

#include "lib/core/error.hpp"
#include "lib/qc/input/fastq_file.hpp"
#include "tests/fuzz/support/memory_file.hpp"
#include "tests/fuzz/support/mutate.hpp"

using namespace biogpu;
using fuzz::MemoryFile;
using fuzz::require;

namespace {

void append(qc::FastqChunk& chunk, std::string& all) {
  for (const qc::RecordPlace& r : chunk.records) {
    const std::size_t size = chunk.text.size() - qc::FastqChunk::kPadding;
    require(r.begin + r.name_length <= size, "a name outside the text");
    require(r.begin + r.sequence_at + r.length <= size, "a sequence outside the text");
    require(r.begin + r.strand_at + r.strand_length <= size, "a third line outside the text");
    require(r.begin + r.quality_at + r.length <= size, "a quality outside the text");
    all += std::string(chunk.name(r)) + "\n" + std::string(chunk.sequence(r), r.length) + "\n" +
           std::string(chunk.strand(r)) + "\n" + std::string(chunk.quality(r), r.length) + "\n";
  }
}

// The records of the file, and behind them the error that ends it.
std::string read_all(const std::string& path, qc::Damage damage, std::size_t n,
                     std::size_t max_bytes) {
  std::string all;
  try {
    qc::FastqFile file(path, damage, {});
    qc::FastqChunk chunk;
    while (file.read(chunk, n, max_bytes)) append(chunk, all);
  } catch (const Error& error) {
    require(std::string_view(error.what()).starts_with(path), "an error without its file");
    return "error";  // it takes the records of its chunk with it
  }
  return all;
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  return fuzz::mutate_file(data, size, max_size, seed, {.layout = fuzz::Layout::text});
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n) {
  const MemoryFile file(bytes, n);
  for (const qc::Damage damage :
       {qc::Damage::refused, qc::Damage::skipped, qc::Damage::ends_look}) {
    const std::string all = read_all(file.path(), damage, 1000, SIZE_MAX);
    require(read_all(file.path(), damage, 1, SIZE_MAX) == all, "other records one by one");
    require(read_all(file.path(), damage, 3, 40) == all, "other records by bytes");
  }
  return 0;
}
