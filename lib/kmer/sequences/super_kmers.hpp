#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

#include "lib/kmer/sequences/minimizer_scan.hpp"
#include "lib/kmer/store/bin_store.hpp"

namespace biogpu::kmer {

// A super-k-mer is a run of windows of one bin, stored as n_windows - 1 (one byte) and the
// n_windows + k - 1 bases, four a byte, the first in the highest pair.
inline constexpr std::size_t kMaxWindows = 256;

// Cuts sequences into super-k-mers and files them. Used by one thread at a time.
class SuperKmerCutter {
 public:
  // min_quality_symbol: symbols below it hide their base; 0 hides none.
  SuperKmerCutter(const ScanOptions& options, char min_quality_symbol, BinStore& store);

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
  const char min_quality_symbol_;
  BinStore::Writer writer_;
  std::unique_ptr<ScanBlock> block_;
  std::uint64_t n_windows_ = 0;
};

// How a super-k-mer minimizer length is chosen: short ones make long super-k-mers, but too few of
// them fill the bins unevenly.
int minimizer_length(int k);

}  // namespace biogpu::kmer
