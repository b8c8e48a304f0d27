// .bgk files of both versions; the checksums are made right again, so that what they guard is read.
#include <cstring>

#include "lib/kmer/database/bgk/bgk_file.hpp"
#include "tests/fuzz/kmer/drive_database.hpp"
#include "tests/fuzz/support/mutate.hpp"

using namespace biogpu;

namespace {

std::uint32_t number_at(const std::string& content, std::size_t at) {
  std::uint32_t value = 0;
  std::memcpy(&value, content.data() + at, sizeof value);
  return value;
}

void repair_blocks(std::string& content) {
  for (std::size_t at = kmer::kBgkHeaderBytes; at + 12 <= content.size();) {
    const std::uint32_t n_bytes = number_at(content, at);
    const std::uint32_t n_keys = number_at(content, at + 4);
    if (n_bytes > content.size() - at - 12) return;
    const std::uint32_t sum =
        kmer::bgk_block_sum(n_bytes, n_keys, std::string_view(content).substr(at + 12, n_bytes));
    std::memcpy(content.data() + at + 8, &sum, sizeof sum);
    if (n_bytes == 0) return;
    at += 12 + n_bytes;
  }
}

void repair(std::string& content) {
  const kmer::BgkLayout layout = kmer::bgk_layout(content);
  const std::size_t n_trailer = layout.trailer_bytes();
  if (!layout.has_checksums || content.size() < kmer::kBgkHeaderBytes + n_trailer) return;
  repair_blocks(content);
  const std::size_t end = content.size() - n_trailer;
  std::memcpy(content.data() + content.size() - kmer::kBgkMagic.size(), kmer::kBgkMagic.data(),
              kmer::kBgkMagic.size());
  kmer::BgkTrailer trailer =
      kmer::parse_bgk_trailer(std::string_view(content).substr(end), layout, "");
  if (trailer.json_bytes > end) return;
  const std::uint32_t sum =
      kmer::bgk_sum(trailer, std::string_view(content).substr(0, kmer::kBgkHeaderBytes),
                    std::string_view(content).substr(end - trailer.json_bytes, trailer.json_bytes));
  std::memcpy(content.data() + end + 44, &sum, sizeof sum);
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  return fuzz::mutate_file(data, size, max_size, seed,
                           {fuzz::Layout::binary, nullptr, nullptr, repair});
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n) {
  fuzz::drive_database(bytes, n);
  return 0;
}
