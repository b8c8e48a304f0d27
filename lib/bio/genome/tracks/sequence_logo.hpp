#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lib/bio/genome/letters.hpp"

namespace biogpu::genome {

// The words of a logo. All of them are drawn in ASCII and cut where there is no room.
struct LogoTexts {
  std::string title;  // as a whole the name of the picture
  std::string x_axis;
  std::string y_axis;              // with the unit
  std::vector<std::string> notes;  // below, each on lines of its own
};

// Letters one after the other, each as high as its number, as SVG that is as wide as its place:
// upwards where it is positive, below the line where it is negative. Rows of 100 letters have the
// same axis. letters: codes below kUnknownLetter are drawn. first: the number of the first letter.
std::string sequence_logo(const LogoTexts& texts, std::span<const LetterCode> letters,
                          std::span<const float> heights, std::int64_t first);

}  // namespace biogpu::genome
