#include "lib/tasks/image/recognition_svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "lib/io/images/png_writer.hpp"
#include "lib/report/markup_text.hpp"

namespace biogpu::tasks {
namespace {

using models::molscribe::GraphAtom;
using models::molscribe::MoleculeGraph;

struct Point {
  double x, y;
};

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k)
      bits = bits << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    const std::size_t n = std::min<std::size_t>(bytes.size() - i, 3);
    for (std::size_t k = 0; k < 4; ++k) text += k <= n ? kDigits[bits >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

class SvgWriter {
 public:
  SvgWriter(const Recognized& recognized, const models::molscribe::PreparedImage& image,
            const io::images::Image& original)
      : recognized_(recognized), graph_(recognized.graph), image_(image), original_(original) {
    unit_ = std::max(1.0, std::min(image.cut_width, image.cut_height) / 100);
  }

  std::string write() {
    text_ = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
        "height=\"{1}\">\n<title>{2} {3} ({4:.4g})</title>\n"
        "<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n"
        "<image width=\"{0}\" height=\"{1}\" opacity=\"0.4\" "
        "href=\"data:image/png;base64,{5}\"/>\n",
        original_.width, original_.height, report::markup_escaped(recognized_.key),
        report::markup_escaped(recognized_.smiles), graph_.confidence,
        base64(io::images::encode_png(original_)));
    for (std::size_t i = 0; i < graph_.atoms.size(); ++i)
      for (std::size_t j = i + 1; j < graph_.atoms.size(); ++j) add_bond(i, j);
    for (const GraphAtom& atom : graph_.atoms) add_atom(atom);
    return std::move(text_) + "</svg>\n";
  }

 private:
  Point place(const GraphAtom& atom) const {
    return {image_.left + atom.x * image_.cut_width, image_.top + atom.y * image_.cut_height};
  }

  void add_line(Point a, Point b, double aside, const char* colour, const char* dashes) {
    const double length = std::max(std::hypot(b.x - a.x, b.y - a.y), 1e-9);
    const double dx = -(b.y - a.y) / length * aside, dy = (b.x - a.x) / length * aside;
    text_ += fmt::format(
        "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" "
        "stroke-width=\"{:.1f}\"{}/>",
        a.x + dx, a.y + dy, b.x + dx, b.y + dy, colour, unit_, dashes);
  }

  void add_bond(std::size_t i, std::size_t j) {
    const std::uint8_t kind = graph_.bond(i, j);
    if (kind == models::molscribe::kNoBond) return;
    const Point a = place(graph_.atoms[i]), b = place(graph_.atoms[j]);
    text_ += fmt::format("<g><title>{} {}: {:.4g}</title>", i, j, graph_.bond_confidence(i, j));
    switch (kind) {
      case models::molscribe::kDouble:
        for (const double aside : {-1.0, 1.0}) add_line(a, b, aside * unit_, "green", "");
        break;
      case models::molscribe::kTriple:
        for (const double aside : {-2.0, 0.0, 2.0}) add_line(a, b, aside * unit_, "green", "");
        break;
      case models::molscribe::kAromatic:
        add_line(a, b, 0, "purple", "");
        break;
      case models::molscribe::kSolidWedge:
        add_wedge(a, b);
        break;
      case models::molscribe::kDashedWedge:
        add_line(a, b, 0, "firebrick", " stroke-dasharray=\"3\"");
        break;
      default:
        add_line(a, b, 0, "green", "");
    }
    text_ += "</g>\n";
  }
  void add_wedge(Point a, Point b) {
    const double length = std::max(std::hypot(b.x - a.x, b.y - a.y), 1e-9);
    const double dx = -(b.y - a.y) / length * 3 * unit_, dy = (b.x - a.x) / length * 3 * unit_;
    text_ +=
        fmt::format("<path d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}L{:.1f} {:.1f}Z\" fill=\"firebrick\"/>",
                    a.x, a.y, b.x + dx, b.y + dy, b.x - dx, b.y - dy);
  }

  void add_atom(const GraphAtom& atom) {
    const Point at = place(atom);
    text_ += fmt::format(
        "<g><title>{:.4g}</title><circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" "
        "fill=\"lightskyblue\"/><text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{:.1f}\" "
        "font-family=\"sans-serif\" text-anchor=\"middle\" "
        "dominant-baseline=\"central\">{}</text></g>\n",
        atom.confidence, at.x, at.y, 3 * unit_, at.x, at.y, 5 * unit_,
        report::markup_escaped(atom.symbol));
  }

  const Recognized& recognized_;
  const MoleculeGraph& graph_;
  const models::molscribe::PreparedImage& image_;
  const io::images::Image& original_;
  double unit_ = 1;  // of lines, in pixels
  std::string text_;
};

}  // namespace

std::string recognition_svg(const Recognized& recognized,
                            const models::molscribe::PreparedImage& image,
                            const io::images::Image& original) {
  return SvgWriter(recognized, image, original).write();
}

}  // namespace biogpu::tasks
