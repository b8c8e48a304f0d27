#include "lib/bio/genome/window.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lib/bio/genome/region.hpp"
#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"

namespace biogpu::genome {

Window resize_centre(Window window, std::int64_t length) {
  window.begin = window.centre() - length / 2;
  window.end = window.begin + length;
  return window;
}

Window shifted(Window window, std::int64_t shift) {
  window.begin += shift;
  window.end += shift;
  return window;
}

std::vector<LetterCode> fit_centre(std::span<const LetterCode> codes, std::size_t length) {
  std::vector<LetterCode> fitted(length, kUnknownLetter);
  const std::size_t from = codes.size() / 2, to = length / 2;
  const std::size_t n_left = std::min(from, to);
  const std::size_t n_right = std::min(codes.size() - from, length - to);
  std::copy_n(codes.begin() + static_cast<std::ptrdiff_t>(from - n_left), n_left + n_right,
              fitted.begin() + static_cast<std::ptrdiff_t>(to - n_left));
  return fitted;
}

Window parse_window(const std::string& text, std::span<const Contig> contigs) {
  const Region region = RegionParser(contigs).parse(text);
  if (region.cut)
    throw Error(ErrorCode::usage,
                fmt::format("region {}: ends behind the {} letters of {}", quoted(text),
                            contigs[region.contig].length, quoted(contigs[region.contig].name)));
  return {text, region.contig, static_cast<std::int64_t>(region.begin),
          static_cast<std::int64_t>(region.end)};
}

}  // namespace biogpu::genome
