#include "lib/bio/genome/tracks/sequence_logo.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

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

constexpr std::size_t kRow = 100;  // letters in a row
constexpr double kWidth = 12;      // of a letter
constexpr double kHeight = 120;    // of a row, from the lowest end of a letter to the highest
constexpr double kLeft = 72, kRight = 20;
constexpr double kTop = 34;        // above the first row
constexpr double kBetween = 34;    // below a row
constexpr double kMinWidth = 420;  // for a title and notes
constexpr double kMargin = 8;
constexpr double kLetter = 6;       // more than the mean letter of 10 px takes
constexpr double kTitleLetter = 8;  // of the title
constexpr double kNoteLine = 14;
constexpr std::int64_t kTick = 10;  // letters between two numbers on the x axis
constexpr double kTicks = 4;        // about so many on the y axis

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

std::string in_ascii(const std::string& text) { return shortened(text, 4 * text.size()); }

// As much of a text as has room.
std::string fit(const std::string& text, double width, double letter) {
  const auto n = static_cast<std::size_t>(width / letter);
  return text.size() <= n ? text : text.substr(0, n - 3) + "...";
}

// Lines that are broken at spaces where they have no room.
std::vector<std::string> wrap(std::string text, double width) {
  const auto most = static_cast<std::size_t>(width / kLetter);
  std::vector<std::string> lines;
  while (text.size() > most) {
    const std::size_t space = text.rfind(' ', most);
    const std::size_t end = space == std::string::npos || space == 0 ? most : space;
    lines.push_back(text.substr(0, end));
    text.erase(0, end == space ? end + 1 : end);
  }
  lines.push_back(std::move(text));
  return lines;
}

// 1, 2 or 5 times a power of ten.
double tick_step(double range) {
  const double power = std::pow(10, std::floor(std::log10(range / kTicks)));
  for (const double step : {1.0, 2.0, 5.0})
    if (range / (step * power) <= kTicks + 0.5) return step * power;
  return 10 * power;
}

class Logo {
 public:
  Logo(std::span<const LetterCode> letters, std::span<const float> heights, std::int64_t first)
      : letters_(letters), heights_(heights), first_(first) {
    for (const float height : heights) {
      most_ = std::max(most_, static_cast<double>(height));
      least_ = std::min(least_, static_cast<double>(height));
    }
    scale_ = most_ > least_ ? kHeight / (most_ - least_) : 0;
    const std::size_t longest = std::min(letters.size(), kRow);
    width_ = std::max(kLeft + kWidth * static_cast<double>(longest) + kRight, kMinWidth);
  }

  std::string draw(const LogoTexts& texts) {
    const std::size_t n_rows = std::max<std::size_t>(1, (letters_.size() + kRow - 1) / kRow);
    double y = kTop;
    for (std::size_t row = 0; row < n_rows; ++row, y += kHeight + kBetween)
      draw_row(row * kRow, y, in_ascii(texts.y_axis));
    put("<text x=\"{}\" y=\"{:.0f}\">{}</text>\n", kLeft, y,
        escape(fit(in_ascii(texts.x_axis), width_ - kLeft - kMargin, kLetter)));
    for (const std::string& note : texts.notes)
      for (const std::string& line : wrap(in_ascii(note), width_ - kLeft - kMargin)) {
        y += kNoteLine;
        put("<text x=\"{}\" y=\"{:.0f}\" fill=\"#555\">{}</text>\n", kLeft, y, escape(line));
      }
    const std::string title = in_ascii(texts.title);
    return fmt::format(
               "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
               "style=\"width:100%;max-width:{2:.0f}px\" role=\"img\" font-family=\"sans-serif\" "
               "font-size=\"10\">\n<title>{3}</title>\n"
               "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
               "<text x=\"{4}\" y=\"18\" font-size=\"13\" font-weight=\"bold\">{5}</text>\n",
               width_, y + kMargin, 1.5 * width_, escape(title), kMargin,
               escape(fit(title, width_ - 2 * kMargin, kTitleLetter))) +
           text_ + "</svg>\n";
  }

 private:
  template <class... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
  }

  void draw_axis(double top, double axis_end, const std::string& label) {
    const double zero = top + scale_ * most_;
    put("<path d=\"M{0} {1:.1f}V{2:.1f}M{0} {3:.1f}H{4:.1f}\" stroke=\"#888\" stroke-width=\"0.5\" "
        "fill=\"none\"/>\n",
        kLeft, top, top + kHeight, zero, axis_end);
    put("<text transform=\"translate(14 {:.1f}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
        top + kHeight / 2, escape(fit(label, kHeight + kBetween, kLetter)));
    if (scale_ == 0) return;
    const double step = tick_step(most_ - least_);
    for (double tick = std::ceil(least_ / step); tick * step <= most_; ++tick) {
      const double y = zero - scale_ * tick * step;
      put("<path d=\"M{} {:.1f}h-4\" stroke=\"#888\" stroke-width=\"0.5\"/>\n", kLeft, y);
      put("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{:.6g}</text>\n", kLeft - 6, y + 3.5,
          tick == 0 ? 0.0 : tick * step);
    }
  }

  void draw_row(std::size_t begin, double top, const std::string& label) {
    const std::size_t end = std::min(begin + kRow, letters_.size());
    draw_axis(top, kLeft + kWidth * static_cast<double>(end - begin), label);
    bool numbered = false;
    for (std::size_t i = begin; i < end; ++i) {
      const double x = kLeft + kWidth * static_cast<double>(i - begin);
      const std::int64_t number = first_ + static_cast<std::int64_t>(i);
      // At least one, also of a few letters.
      if (number % kTick == 0 || (!numbered && i + 1 == end)) {
        put("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", x + kWidth / 2,
            top + kHeight + 14, number);
        numbered = true;
      }
      draw_letter(i, x, top + scale_ * most_);
    }
  }

  void draw_letter(std::size_t i, double x, double zero) {
    const double height = scale_ * static_cast<double>(heights_[i]);
    if (letters_[i] >= kUnknownLetter || height == 0) return;
    // Negative ones stand on their heads below the line.
    const Shape& shape = kShapes[letters_[i]];
    put("<path fill=\"{}\" fill-rule=\"evenodd\" transform=\"translate({:.1f} {:.3f}) "
        "scale({:.4f} {:.6f})\" d=\"{}\"/>\n",
        shape.color, x, zero - height, kWidth / 100, height / 100, shape.path);
  }

  const std::span<const LetterCode> letters_;
  const std::span<const float> heights_;
  const std::int64_t first_;
  double most_ = 0, least_ = 0;
  double scale_ = 0;
  double width_ = 0;
  std::string text_;
};

}  // namespace

std::string sequence_logo(const LogoTexts& texts, std::span<const LetterCode> letters,
                          std::span<const float> heights, std::int64_t first) {
  return Logo(letters, heights, first).draw(texts);
}

}  // namespace biogpu::genome
