#include "lib/kmer/spectrum.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "lib/report/markup_text.hpp"

namespace biogpu::kmer {
namespace {

constexpr double kWidth = 720;
constexpr double kHeight = 400;
constexpr double kLeft = 70;
constexpr double kRight = 20;
constexpr double kTop = 50;
constexpr double kBottom = 50;

// Multiplicities shown: all up to four times the peak, so that the first repeats are seen.
std::size_t shown_end(const std::vector<std::uint64_t>& counts, const Spectrum& spectrum) {
  std::size_t last = 1;
  for (std::size_t i = 1; i < counts.size(); ++i)
    if (counts[i] > 0) last = i;
  const std::size_t wanted = spectrum.peak > 0 ? 4 * spectrum.peak + 1 : 100;
  return std::min(last, std::max<std::size_t>(wanted, 10)) + 1;
}

// Maps multiplicity and number to the image.
struct Axes {
  std::size_t end;
  double top_power;  // of ten

  double x(double multiplicity) const {
    return kLeft + (kWidth - kLeft - kRight) * (multiplicity - 0.5) / static_cast<double>(end - 1);
  }
  double y(double number) const {
    const double share = number < 1 ? 0 : std::log10(number) / top_power;
    return kHeight - kBottom - (kHeight - kTop - kBottom) * share;
  }
};

void append_axes(const Axes& axes, std::string& out) {
  auto to = std::back_inserter(out);
  for (int power = 0; power <= static_cast<int>(axes.top_power); ++power) {
    const double y = axes.y(std::pow(10.0, power));
    fmt::format_to(
        to,
        "<line x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#ddd\"/>\n"
        "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">1e{}</text>\n",
        kLeft, kWidth - kRight, y, y, kLeft - 6, y + 4, power);
  }
  const std::size_t step = std::max<std::size_t>(1, (axes.end - 1) / 10);
  for (std::size_t i = step; i < axes.end; i += step)
    fmt::format_to(to, "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n",
                   axes.x(static_cast<double>(i)), kHeight - kBottom + 16, i);
  fmt::format_to(to,
                 "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">occurrences of a k-mer"
                 "</text>\n<text x=\"14\" y=\"{:.1f}\" text-anchor=\"middle\" "
                 "transform=\"rotate(-90 14 {:.1f})\">k-mers</text>\n",
                 (kLeft + kWidth - kRight) / 2, kHeight - 12, (kTop + kHeight - kBottom) / 2,
                 (kTop + kHeight - kBottom) / 2);
}

void append_mark(const Axes& axes, std::uint64_t at, const char* name, const char* colour,
                 std::string& out) {
  if (at == 0 || at >= axes.end) return;
  const double x = axes.x(static_cast<double>(at));
  fmt::format_to(std::back_inserter(out),
                 "<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\" "
                 "stroke=\"{3}\" stroke-dasharray=\"4 3\"/>\n"
                 "<text x=\"{4:.1f}\" y=\"{5:.1f}\" fill=\"{3}\">{6} {7}</text>\n",
                 x, kTop, kHeight - kBottom, colour, x + 4, kTop + 10, name, at);
}

}  // namespace

Spectrum read_spectrum(const std::vector<std::uint64_t>& counts) {
  Spectrum spectrum;
  std::size_t valley = 1;
  while (valley + 1 < counts.size() && counts[valley + 1] <= counts[valley]) ++valley;
  if (valley + 1 >= counts.size()) return spectrum;  // it only falls
  // The last bucket holds everything above and is no peak.
  const auto peak =
      std::max_element(counts.begin() + static_cast<std::ptrdiff_t>(valley), counts.end() - 1);
  if (*peak <= counts[valley]) return spectrum;
  spectrum.valley = valley;
  spectrum.peak = static_cast<std::uint64_t>(peak - counts.begin());
  double total = 0;
  for (std::size_t i = valley; i < counts.size(); ++i)
    total += static_cast<double>(i) * static_cast<double>(counts[i]);
  spectrum.genome_size = total / static_cast<double>(spectrum.peak);
  return spectrum;
}

std::string spectrum_svg(const std::vector<std::uint64_t>& counts, const std::string& title) {
  const Spectrum spectrum = read_spectrum(counts);
  const std::size_t end = shown_end(counts, spectrum);
  std::uint64_t most = 10;
  for (std::size_t i = 1; i < std::min(end, counts.size()); ++i) most = std::max(most, counts[i]);
  const Axes axes{end, std::ceil(std::log10(static_cast<double>(most)))};
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-family=\"sans-serif\" "
      "font-size=\"11\" role=\"img\">\n<title>{}</title>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
      "<text x=\"{}\" y=\"20\" font-size=\"14\">{}</text>\n",
      kWidth, kHeight, report::markup_escaped(title), kLeft, report::markup_escaped(title));
  if (spectrum.peak > 0)
    fmt::format_to(std::back_inserter(out),
                   "<text x=\"{}\" y=\"36\">coverage about {}, genome about {:.3g} bases "
                   "(k-mers from the valley on, over the peak)</text>\n",
                   kLeft, spectrum.peak, spectrum.genome_size);
  append_axes(axes, out);
  const double width = std::max(0.5, axes.x(2) - axes.x(1) - 0.5);
  for (std::size_t i = 1; i < std::min(end, counts.size()); ++i) {
    if (counts[i] == 0) continue;
    const double y = axes.y(static_cast<double>(counts[i]));
    fmt::format_to(std::back_inserter(out),
                   "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
                   "fill=\"#0072b2\"><title>{}: {}</title></rect>\n",
                   axes.x(static_cast<double>(i)) - width / 2, y, width,
                   std::max(1.0, kHeight - kBottom - y), i, counts[i]);
  }
  append_mark(axes, spectrum.valley, "valley", "#d55e00", out);
  append_mark(axes, spectrum.peak, "peak", "#009e73", out);
  return out + "</svg>\n";
}

}  // namespace biogpu::kmer
