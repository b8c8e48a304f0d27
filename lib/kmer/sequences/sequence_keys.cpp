#include "lib/kmer/sequences/sequence_keys.hpp"

#include <array>

#include "lib/kmer/key/key.hpp"

namespace biogpu::kmer {
namespace {

constexpr std::uint8_t kNoBase = 4;

constexpr std::array<std::uint8_t, 256> make_codes() {
  std::array<std::uint8_t, 256> codes{};
  codes.fill(kNoBase);
  for (std::size_t i = 0; i < 4; ++i) {
    codes[static_cast<unsigned char>("ACGT"[i])] = static_cast<std::uint8_t>(i);
    codes[static_cast<unsigned char>("acgt"[i])] = static_cast<std::uint8_t>(i);
  }
  return codes;
}
constexpr std::array<std::uint8_t, 256> kCodes = make_codes();

}  // namespace

void append_keys(std::string_view sequence, int k, bool canonical,
                 std::vector<std::uint64_t>& keys) {
  with_words(k, [&]<int kWords>() {
    RollingKey<kWords> window(k);
    int n_bases = 0;  // since the last letter that is none
    for (const char letter : sequence) {
      const std::uint8_t code = kCodes[static_cast<unsigned char>(letter)];
      if (code == kNoBase) {
        n_bases = 0;
        continue;
      }
      window.push(code);
      if (++n_bases < k) continue;
      const Key<kWords>& key = canonical ? window.canonical() : window.forward();
      keys.insert(keys.end(), key.word.begin(), key.word.end());
    }
  });
}

}  // namespace biogpu::kmer
