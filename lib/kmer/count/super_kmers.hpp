#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>

#include "lib/kmer/count/bin_store.hpp"
#include "lib/kmer/count/scan.hpp"
#include "lib/kmer/key.hpp"

namespace biogpu::kmer {

// A super-k-mer is a run of windows of one bin, stored as n_windows - 1 (one byte) and the
// n_windows + k - 1 bases, four a byte, the first in the highest pair.
inline constexpr std::size_t kMaxWindows = 256;

// Cuts sequences into super-k-mers and files them. Used by one thread at a time.
class SuperKmerCutter {
 public:
  // least_quality: symbols below it hide their base; 0 hides none.
  SuperKmerCutter(const ScanOptions& options, char least_quality, BinStore& store);

  // quality may be empty.
  void add(std::string_view sequence, std::string_view quality);
  // Files what is left. Called once, before the bins are read.
  void finish();

  std::uint64_t n_windows() const { return n_windows_; }

 private:
  void flush();
  void cut_run(std::size_t first, std::size_t last);
  void file(std::size_t first, std::size_t n);

  const ScanOptions options_;
  const char least_quality_;
  BinStore::Writer writer_;
  std::unique_ptr<ScanBlock> block_;
  std::uint64_t n_windows_ = 0;
};

// How a super-k-mer minimizer length is chosen: short ones make long super-k-mers, but too few of
// them fill the bins unevenly.
int minimizer_length(int k);

// visit(key) for each window of the super-k-mers in `records`, canonical or as read.
template <int kWords, class Visit>
void expand_super_kmers(std::span<const char> records, int k, bool canonical, Visit&& visit) {
  const char* at = records.data();
  const char* const end = at + records.size();
  const auto n_key_bases = static_cast<std::size_t>(k);
  RollingKey<kWords> window(k);
  while (at < end) {
    const std::size_t n = std::size_t{static_cast<unsigned char>(*at)} + 1;
    const char* const bases = at + 1;
    window.load(bases, k);
    visit(canonical ? window.canonical() : window.forward());
    std::size_t base = n_key_bases;
    for (std::size_t left = n - 1; left > 0;) {
      std::uint64_t word = load_big_endian(bases + base / 4) << 2 * (base % 4);
      const std::size_t now = left < 29 ? left : 29;
      for (std::size_t i = 0; i < now; ++i, word <<= 2) {
        window.push(word >> 62);
        visit(canonical ? window.canonical() : window.forward());
      }
      base += now;
      left -= now;
    }
    at = bases + (n + n_key_bases - 1 + 3) / 4;
  }
}

}  // namespace biogpu::kmer
