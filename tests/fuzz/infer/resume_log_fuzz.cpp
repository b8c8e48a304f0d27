// A resume log from any bytes: an Error, or batches whose arrays have as many numbers as their
// shapes say, and which come back when they are read again.
#include <libdeflate.h>

#include <algorithm>
#include <cstring>

#include "lib/pipeline/resume_log.hpp"
#include "tests/fuzz/support/expect_error.hpp"
#include "tests/fuzz/support/folder.hpp"
#include "tests/fuzz/support/mutate.hpp"

using namespace biogpu;

namespace {

constexpr std::size_t kHeadBytes = 20;  // magic, length and text of the fingerprint
const std::string kHead("BGIJ\4\0\0\0\4\0\0\0\0\0\0\0fuzz", kHeadBytes);

// The head of this run, and of every batch a size that fits and the right checksum.
void repair(std::string& content) {
  content.replace(0, std::min(kHeadBytes, content.size()), kHead);
  constexpr std::size_t kFrame = sizeof(std::uint64_t) + sizeof(std::uint32_t);
  for (std::size_t at = kHeadBytes; content.size() - at >= kFrame;) {
    std::uint64_t size = 0;
    std::memcpy(&size, content.data() + at, sizeof size);
    size = std::min<std::uint64_t>(size, content.size() - at - kFrame);
    std::memcpy(content.data() + at, &size, sizeof size);
    const char* const payload = content.data() + at + sizeof size;
    const std::uint32_t crc = libdeflate_crc32(0, payload, size);
    std::memcpy(content.data() + at + sizeof size + size, &crc, sizeof crc);
    at += kFrame + size;
  }
}

std::uint64_t replay(const std::string& path) {
  std::uint64_t n_batches = 0;
  pipeline::ResumeLog log(path, "fuzz");
  log.replay([&](const pipeline::RecordOutputs& result) {
    ++n_batches;
    for (const io::NamedArray& array : result.arrays) {
      std::uint64_t n_numbers = 1;
      for (const std::int64_t n : array.shape) n_numbers *= static_cast<std::uint64_t>(n);
      fuzz::require(!array.shape.empty() && n_numbers == array.values.size(), "a shape");
      fuzz::require(array.kind_bytes <= array.key.size(), "a kind longer than the key");
    }
  });
  return n_batches;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n) {
  static const fuzz::Folder folder;
  const std::string path = folder.write("log", bytes, n);
  fuzz::expect_error_of(path, [&] {
    const std::uint64_t n_batches = replay(path);
    fuzz::require(replay(path) == n_batches, "other batches at the second time");
  });
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  return fuzz::mutate_file(data, size, max_size, seed,
                           {fuzz::Layout::binary, nullptr, nullptr, repair});
}
