#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "lib/io/arrays/shared_array.hpp"
#include "lib/models/base/kept_store.hpp"

namespace biogpu::models {

// Classes of splice sites: donor +, acceptor +, donor -, acceptor -.
inline constexpr std::size_t kSpliceSiteClasses = 4;

// A splice site: the last base of an exon (donor) or the first of the next, of a window.
struct SpliceSite {
  std::size_t of_class = 0;
  std::int64_t base = 0;

  bool operator==(const SpliceSite&) const = default;
};

// Bases of a window by class, each in ascending order.
using SpliceSites = std::array<std::vector<std::int32_t>, kSpliceSiteClasses>;

// What a model keeps of a window, for junctions between sites that are chosen afterwards.
struct SiteWindow {
  KeptStore::Slot slot;
  io::SharedArray probabilities;  // [bases, kSpliceSiteClasses and none of them]
  std::int64_t first = 0;         // of the window's bases, where those that are kept begin
};

// Of which of its rows the sites of a window are, of all classes one after the other: sites of
// another allele have other places.
struct SiteRows {
  static constexpr std::int32_t kZeros = -1;    // no row of the window
  static constexpr std::int32_t kMaximum = -2;  // that of rows [max_begin, max_end)

  std::vector<std::int32_t> rows;
  std::int64_t max_begin = 0, max_end = 0;
};

}  // namespace biogpu::models
