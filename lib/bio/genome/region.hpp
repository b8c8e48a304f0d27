#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "lib/bio/genome/contig.hpp"

namespace biogpu::genome {

// Letters [begin, end) of a record, cut to what the record has.
struct Region {
  std::uint64_t contig = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  bool cut = false;  // it was to go on behind the record's end
};

// Regions as samtools takes them: NAME, NAME:FIRST-LAST, NAME:FIRST-, NAME:FIRST, NAME:-LAST, from
// 1 on and closed, commas in numbers passed over, {NAME} for a name that holds a colon.
class RegionParser {
 public:
  // The records must outlive the parser. Of equal names the first counts.
  explicit RegionParser(std::span<const Contig> contigs);

  // Throws Error{usage} for an unknown name, a range that is none, and text that can be read both
  // as a name and as a name with a range.
  Region parse(const std::string& text) const;

 private:
  const Contig* find(std::string_view name) const;
  Region whole(const Contig& contig) const;

  std::span<const Contig> contigs_;
  std::unordered_map<std::string_view, std::size_t> index_;
};

}  // namespace biogpu::genome
