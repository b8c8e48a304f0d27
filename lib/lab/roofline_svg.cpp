#include "lib/lab/roofline_svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "lib/report/markup_text.hpp"

namespace biogpu::lab {
namespace {

constexpr double kWidth = 900, kHeight = 560, kLeft = 70, kTop = 50, kPlotWidth = 560,
                 kPlotHeight = 440;
constexpr const char* kColours[] = {"#1b6ca8", "#c0392b", "#2e8b57", "#8e44ad", "#d68910",
                                    "#16a085", "#7f8c8d", "#a04000", "#34495e", "#d35480"};

// A logarithmic axis of whole decades.
struct Axis {
  double low, high;  // exponents

  static Axis around(double least, double most) {
    return {std::floor(std::log10(least)),
            std::max(std::ceil(std::log10(most)), std::floor(std::log10(least)) + 1)};
  }
  // 0 to 1.
  double at(double value) const { return (std::log10(value) - low) / (high - low); }
};

class Plot {
 public:
  Plot(Axis x, Axis y) : x_(x), y_(y) {}

  double x(double value) const { return kLeft + kPlotWidth * x_.at(value); }
  double y(double value) const { return kTop + kPlotHeight * (1 - y_.at(value)); }

  std::string grid() const {
    std::string text;
    for (double e = x_.low; e <= x_.high; ++e) {
      const double at = x(std::pow(10, e));
      text += fmt::format(
          "<line x1=\"{0:.1f}\" y1=\"{1}\" x2=\"{0:.1f}\" y2=\"{2}\" stroke=\"#ddd\"/>"
          "<text x=\"{0:.1f}\" y=\"{3}\" text-anchor=\"middle\">{4:g}</text>\n",
          at, kTop, kTop + kPlotHeight, kTop + kPlotHeight + 18, std::pow(10, e));
    }
    for (double e = y_.low; e <= y_.high; ++e) {
      const double at = y(std::pow(10, e));
      text += fmt::format(
          "<line x1=\"{1}\" y1=\"{0:.1f}\" x2=\"{2}\" y2=\"{0:.1f}\" stroke=\"#ddd\"/>"
          "<text x=\"{3}\" y=\"{4:.1f}\" text-anchor=\"end\">{5:g}</text>\n",
          at, kLeft, kLeft + kPlotWidth, kLeft - 6, at + 4, std::pow(10, e));
    }
    return text;
  }
  // What memory allows up to the ridge, then what the products do.
  std::string roof(const ops::Roofline& roofline) const {
    const double least = std::pow(10, x_.low), most = std::pow(10, x_.high);
    const double ridge = std::clamp(roofline.operations_per_s / roofline.bytes_per_s, least, most);
    const auto tera = [&](double intensity) {
      return 1e-12 * std::min(intensity * roofline.bytes_per_s, roofline.operations_per_s);
    };
    return fmt::format(
        "<polyline clip-path=\"url(#plot)\" fill=\"none\" stroke=\"#444\" stroke-width=\"2\" "
        "points=\"{:.1f},{:.1f} {:.1f},{:.1f} {:.1f},{:.1f}\"/>\n",
        x(least), y(tera(least)), x(ridge), y(tera(ridge)), x(most), y(tera(most)));
  }

 private:
  const Axis x_, y_;
};

}  // namespace

std::string roofline_svg(const std::vector<BlockResult>& results, const ops::Roofline& roofline,
                         const std::string& title) {
  const bool has_roof = roofline.operations_per_s > 0 && roofline.bytes_per_s > 0;
  double least_x = 1, most_x = 1, least_y = 1, most_y = 1;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const double x = results[i].operations / results[i].bytes,
                 y = 1e-12 * results[i].operations / results[i].median_s;
    least_x = i == 0 ? x : std::min(least_x, x);
    most_x = i == 0 ? x : std::max(most_x, x);
    least_y = i == 0 ? y : std::min(least_y, y);
    most_y = i == 0 ? y : std::max(most_y, y);
  }
  if (has_roof) most_y = std::max(most_y, 1e-12 * roofline.operations_per_s);
  const Plot plot(Axis::around(least_x, most_x), Axis::around(least_y, most_y));
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" "
      "font-family=\"sans-serif\" "
      "font-size=\"12\">\n<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n"
      "<clipPath id=\"plot\"><rect x=\"{2}\" y=\"{3}\" width=\"{4}\" height=\"{5}\"/></clipPath>\n"
      "<text x=\"{2}\" y=\"24\" font-size=\"15\">{6}</text>\n",
      kWidth, kHeight, kLeft, kTop, kPlotWidth, kPlotHeight, report::markup_escaped(title));
  text += plot.grid();
  if (has_roof) text += plot.roof(roofline);
  text += fmt::format(
      "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">operations a byte</text>\n"
      "<text transform=\"translate(16,{}) rotate(-90)\" text-anchor=\"middle\">TFLOP/s</text>\n",
      kLeft + kPlotWidth / 2, kTop + kPlotHeight + 38, kTop + kPlotHeight / 2);
  std::map<std::string, std::size_t> colours;  // of blocks, in the order of their first result
  double legend = kTop + 10;
  for (const BlockResult& result : results) {
    const auto [place, is_new] = colours.emplace(result.block, colours.size());
    const char* const colour = kColours[place->second % std::size(kColours)];
    if (is_new) {
      text += fmt::format(
          "<circle cx=\"{}\" cy=\"{}\" r=\"5\" fill=\"{}\"/><text x=\"{}\" y=\"{}\">{}</text>\n",
          kLeft + kPlotWidth + 24, legend, colour, kLeft + kPlotWidth + 36, legend + 4,
          report::markup_escaped(result.block));
      legend += 19;
    }
    const double x = plot.x(result.operations / result.bytes),
                 y = plot.y(1e-12 * result.operations / result.median_s);
    text += fmt::format(
        "<circle cx=\"{0:.1f}\" cy=\"{1:.1f}\" r=\"5\" fill=\"{2}\"><title>{3} {4}x{5}: {6:.1f} "
        "us</title></circle><text x=\"{7:.1f}\" y=\"{8:.1f}\" font-size=\"9\">{4}x{5}</text>\n",
        x, y, colour, report::markup_escaped(result.block), result.extents.n, result.extents.c,
        1e6 * result.median_s, x + 7, y - 4);
  }
  return text + "</svg>\n";
}

}  // namespace biogpu::lab
