#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "lib/bio/genome/letters.hpp"

namespace biogpu::genome {

// Letters one after the other, each as high as its number, as SVG: upwards where it is positive,
// below the line where it is negative. letters: codes below kUnknownLetter are drawn. first: the
// number of the first letter on the axis. The whole title is the picture's; above the letters is as
// much of it as fits, in ASCII.
std::string sequence_logo(std::string_view full_title, std::span<const LetterCode> letters,
                          std::span<const float> heights, std::int64_t first);

}  // namespace biogpu::genome
