// The five files of an index of bwa: refused, or every maximal match and each of its places is
// found without leaving them.
//
// An input holds the files one behind the other after their sizes, five 32-bit numbers, in the
// order of kSuffixes; one of no bytes is missing.
#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "lib/bwt/bwa/bwa_fm.hpp"
#include "lib/bwt/smem/smem_search.hpp"
#include "tests/fuzz/support/expect_error.hpp"
#include "tests/fuzz/support/folder.hpp"
#include "tests/fuzz/support/mutate.hpp"

using namespace biogpu;

namespace {

constexpr std::array kSuffixes = {".bwt", ".sa", ".ann", ".amb", ".pac"};
constexpr std::size_t kSizes = kSuffixes.size() * sizeof(std::uint32_t);
constexpr std::uint64_t kMaxPlaces = 3;

using Files = std::array<std::string, kSuffixes.size()>;

Files split(const std::string& content) {
  Files files;
  std::size_t at = kSizes;
  for (std::size_t i = 0; i < files.size() && content.size() >= kSizes; ++i) {
    std::uint32_t size = 0;
    std::memcpy(&size, content.data() + i * sizeof size, sizeof size);
    files[i] = content.substr(std::min(at, content.size()), size);
    at += files[i].size();
  }
  return files;
}

std::string join(const Files& files) {
  std::string content;
  for (const std::string& file : files) {
    const auto size = static_cast<std::uint32_t>(file.size());
    content.append(reinterpret_cast<const char*>(&size), sizeof size);
  }
  for (const std::string& file : files) content += file;
  return content;
}

// The counts behind every block, the header of .bwt and that of .sa, from the symbols.
void repair(std::string& content) {
  Files files = split(content);
  std::string& bwt = files[0];
  constexpr std::size_t kHeader = 40;
  std::uint64_t n = 0;
  if (bwt.size() < kHeader) return;
  std::memcpy(&n, bwt.data() + 32, sizeof n);
  if (n > 4 * bwt.size() ||
      bwt.size() != kHeader + 4 * ((n + 15) / 16) + 32 * ((n + 127) / 128 + 1))
    return;
  std::uint64_t counts[4] = {};
  std::size_t at = kHeader;
  for (std::uint64_t i = 0; i < n; i += 128) {
    std::memcpy(bwt.data() + at, counts, sizeof counts);
    at += sizeof counts;
    for (std::uint64_t k = i; k < std::min(n, i + 128); ++k) {
      std::uint32_t word = 0;
      std::memcpy(&word, bwt.data() + at + 4 * ((k - i) / 16), sizeof word);
      ++counts[word >> (30 - 2 * (k % 16)) & 3];
    }
    at += 4 * ((std::min(n, i + 128) - i + 15) / 16);
  }
  std::memcpy(bwt.data() + at, counts, sizeof counts);
  for (std::size_t c = 1; c < 4; ++c) counts[c] += counts[c - 1];
  std::memcpy(bwt.data() + 8, counts, sizeof counts);
  if (files[1].size() >= kHeader) std::memcpy(files[1].data(), bwt.data(), kHeader);
  content = join(files);
}

void use(const bwt::BwaFm& index) {
  bwt::SmemQueries queries;
  for (const char* const letters : {"GATTACA", "ACGTTGCATGCAAGGNTTTTTTTTTTTTT", "C"})
    queries.append(letters);
  const bwt::BwaKmers kmers(index, 1);
  bwt::SmemMatches found;
  for (const std::uint32_t min_length : {1u, 4u}) {
    bwt::find_smems(index, kmers, {min_length, kMaxPlaces}, queries, found);
    for (std::size_t q = 0; q < queries.size(); ++q) {
      const auto [first, n] = found.of_query[q];
      for (std::size_t m = first; m < first + n; ++m) {
        const bwt::SmemMatches::Match& match = found.matches[m];
        fuzz::require(match.begin < match.end && match.end <= queries[q].length,
                      "a match in its query");
        if (match.n_places > kMaxPlaces) continue;
        for (std::uint64_t i = 0; i < match.n_places; ++i) {
          const std::uint64_t at = found.positions[match.first_position + i];
          const bwt::BwaFm::Place place = index.place(at, match.end - match.begin);
          fuzz::require(place.contig.data() != nullptr, "a place in a record");
        }
      }
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n) {
  static const fuzz::Folder folder;
  const std::string prefix = folder.path() + "/index";
  const Files files = split({reinterpret_cast<const char*>(bytes), n});
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::string path = prefix + kSuffixes[i];
    if (files[i].empty()) {
      std::filesystem::remove(path);
      continue;
    }
    folder.write(std::string("index") + kSuffixes[i],
                 reinterpret_cast<const std::uint8_t*>(files[i].data()), files[i].size());
  }
  fuzz::expect_error_of(prefix, [&] { use(bwt::BwaFm(prefix, 1)); });
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  fuzz::Format format;
  format.repair = repair;
  return fuzz::mutate_file(data, size, max_size, seed, format);
}
