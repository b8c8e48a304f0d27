#include "lib/bio/genome/region.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"

namespace biogpu::genome {
namespace {

constexpr std::uint64_t kNoEnd = std::numeric_limits<std::uint64_t>::max();

struct Range {
  std::uint64_t first = 1;
  std::uint64_t last = kNoEnd;
};

// Digits, with commas anywhere; numbers that are too large are the largest.
std::optional<std::uint64_t> parse_number(std::string_view text) {
  std::uint64_t value = 0;
  bool any = false;
  for (const char c : text) {
    if (c == ',') continue;
    if (c < '0' || c > '9') return std::nullopt;
    any = true;
    const auto digit = static_cast<std::uint64_t>(c - '0');
    value = value > (kNoEnd - digit) / 10 ? kNoEnd : 10 * value + digit;
  }
  return any && value > 0 ? std::optional(value) : std::nullopt;
}

// What follows the colon.
std::optional<Range> parse_range(std::string_view text) {
  Range range;
  if (text.empty()) return range;
  const std::size_t dash = text.find('-');
  const std::string_view first = text.substr(0, dash);
  const std::string_view last = dash == text.npos ? std::string_view() : text.substr(dash + 1);
  if (first.empty() && last.empty()) return std::nullopt;
  for (const auto& [number, to] : {std::pair(first, &range.first), std::pair(last, &range.last)}) {
    if (number.empty()) continue;
    const std::optional<std::uint64_t> value = parse_number(number);
    if (!value) return std::nullopt;
    *to = *value;
  }
  return range.first <= range.last ? std::optional(range) : std::nullopt;
}

[[noreturn]] void refuse_region(const std::string& text, const std::string& what) {
  throw Error(ErrorCode::usage, fmt::format("region {}: {}", biogpu::quoted(text), what));
}

}  // namespace

RegionParser::RegionParser(std::span<const Contig> contigs) : contigs_(contigs) {
  index_.reserve(contigs.size());
  for (std::size_t i = 0; i < contigs.size(); ++i) index_.emplace(contigs[i].name, i);
}

const Contig* RegionParser::find(std::string_view name) const {
  const auto at = index_.find(name);
  return at == index_.end() ? nullptr : &contigs_[at->second];
}

Region RegionParser::whole(const Contig& contig) const {
  Region region;
  region.contig = static_cast<std::uint64_t>(&contig - contigs_.data());
  region.end = contig.length;
  return region;
}

Region RegionParser::parse(const std::string& text) const {
  const std::string_view all(text);
  const bool braced = all.starts_with('{');
  const std::size_t brace = all.find('}');
  if (braced && (brace == all.npos || (brace + 1 < all.size() && all[brace + 1] != ':')))
    refuse_region(text, "expected {NAME} or {NAME}:FIRST-LAST");
  const std::size_t colon = braced ? brace + 1 : std::min(all.rfind(':'), all.size());
  const Contig* const record = find(braced ? all.substr(1, brace - 1) : all.substr(0, colon));
  const bool has_range = colon < all.size();
  const std::optional<Range> range =
      has_range ? parse_range(all.substr(colon + 1)) : std::optional(Range{});
  const Contig* const named = braced || !has_range ? nullptr : find(all);
  if (named != nullptr) {
    if (record != nullptr && range)
      refuse_region(text,
                    "is a record and a range of another one; write {NAME} or {NAME}:FIRST-LAST");
    return whole(*named);
  }
  if (record == nullptr)
    refuse_region(
        text,
        describe_missing("the file", braced ? all.substr(1, brace - 1) : all.substr(0, colon),
                         contigs_, [&](std::string_view other) { return find(other) != nullptr; }) +
            "; expected NAME or NAME:FIRST-LAST");
  if (!range)
    refuse_region(
        text,
        "expected FIRST-LAST, FIRST- or -LAST behind the name, counted from 1, FIRST not above "
        "LAST");
  Region region = whole(*record);
  region.cut = range->first > std::max<std::uint64_t>(region.end, 1) ||
               (range->last != kNoEnd && range->last > region.end);
  region.begin = std::min(range->first - 1, region.end);
  region.end = std::min(range->last, region.end);
  return region;
}

}  // namespace biogpu::genome
