#include "lib/bio/genome/tracks/sequence_logo.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "lib/core/quote.hpp"

namespace biogpu::genome {
namespace {

// A letter in a square of 100 by 100, y downwards.
struct Shape {
  const char* color;
  const char* path;
};
constexpr Shape kShapes[] = {
    {"#109648", "M0 100 L38 0 H62 L100 100 H79 L71 76 H29 L21 100 Z M35 59 H65 L50 17 Z"},
    {"#255c99",
     "M100 34 C92 12 75 0 53 0 C22 0 0 20 0 50 C0 80 22 100 53 100 C75 100 92 88 100 66 L79 60 "
     "C74 74 66 81 53 81 C34 81 21 69 21 50 C21 31 34 19 53 19 C66 19 74 26 79 40 Z"},
    {"#f7b32b",
     "M100 32 C92 11 75 0 53 0 C22 0 0 20 0 50 C0 80 22 100 53 100 C72 100 89 94 100 84 V45 H53 "
     "V63 H80 V75 C73 79 64 81 53 81 C34 81 21 69 21 50 C21 31 34 19 53 19 C66 19 74 25 79 37 Z"},
    {"#d62839", "M0 0 H100 V18 H61 V100 H39 V18 H0 Z"},
};

constexpr double kWidth = 12;    // of a letter
constexpr double kHeight = 120;  // of the highest
constexpr double kLeft = 60, kTop = 30, kBottom = 30;
constexpr double kTitleX = 4;
constexpr double kTitleLetter = 8;     // more than the mean letter of the title takes
constexpr std::size_t kMinTitle = 24;  // letters of it that always have room
constexpr std::int64_t kTick = 10;     // letters between two numbers on the axis

std::string escape(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '&')
      escaped += "&amp;";
    else if (c == '<')
      escaped += "&lt;";
    else
      escaped += c;
  }
  return escaped;
}

// As much of a title as a picture has room for.
std::string fit_title(const std::string& title, double width) {
  const auto n = static_cast<std::size_t>((width - 2 * kTitleX) / kTitleLetter);
  return title.size() <= n ? title : title.substr(0, n - 3) + "...";
}

}  // namespace

std::string sequence_logo(std::string_view full_title, std::span<const LetterCode> letters,
                          std::span<const float> heights, std::int64_t first) {
  float most = 0, least = 0;
  for (const float height : heights) {
    most = std::max(most, height);
    least = std::min(least, height);
  }
  const double range = static_cast<double>(most) - static_cast<double>(least);
  const double scale = range > 0 ? kHeight / range : 0;
  const double line = kTop + scale * static_cast<double>(most);            // y of zero
  const std::string title = shortened(full_title, 4 * full_title.size());  // of ASCII alone
  const double room =
      2 * kTitleX + kTitleLetter * static_cast<double>(std::min(title.size(), kMinTitle));
  const double axis_end = kLeft + kWidth * static_cast<double>(letters.size());
  const double width = std::max(axis_end + 20, room);
  std::string text;
  auto out = std::back_inserter(text);
  fmt::format_to(out,
                 "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
                 "viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"sans-serif\" font-size=\"10\">\n"
                 "<title>{2}</title>\n<text x=\"{3}\" y=\"14\" font-size=\"12\">{4}</text>\n",
                 width, kTop + kHeight + kBottom, escape(title), kTitleX,
                 escape(fit_title(title, width)));
  for (const float value : {most, least})
    if (value != 0)
      fmt::format_to(out, "<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{:.3g}</text>\n",
                     kLeft - 6, line - scale * static_cast<double>(value) + 4, value);
  fmt::format_to(out, "<path d=\"M{} {:.1f}H{:.1f}\" stroke=\"#888\" stroke-width=\"0.5\"/>\n",
                 kLeft, line, axis_end);
  for (std::size_t i = 0; i < letters.size(); ++i) {
    const double x = kLeft + kWidth * static_cast<double>(i);
    const std::int64_t number = first + static_cast<std::int64_t>(i);
    if (number % kTick == 0)
      fmt::format_to(out, "<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
                     x + kWidth / 2, kTop + kHeight + 16, number);
    const double height = scale * static_cast<double>(heights[i]);
    if (letters[i] >= kUnknownLetter || height == 0) continue;
    // Negative ones stand on their heads below the line.
    const Shape& shape = kShapes[letters[i]];
    fmt::format_to(out,
                   "<path fill=\"{}\" fill-rule=\"evenodd\" transform=\"translate({:.1f} {:.3f}) "
                   "scale({:.4f} {:.6f})\" d=\"{}\"/>\n",
                   shape.color, x, line - height, kWidth / 100, height / 100, shape.path);
  }
  text += "</svg>\n";
  return text;
}

}  // namespace biogpu::genome
