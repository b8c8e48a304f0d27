#include "lib/qc/report/html_page.hpp"

#include <algorithm>
#include "lib/report/markup_text.hpp"

namespace biogpu::qc {

void HtmlPage::put_table(const std::string& id, const std::string& heading,
                         const std::vector<std::string>& heads, const HtmlRows& rows) {
  put("<div id='{}'>\n<h3>{}</h3>\n<table>\n", id, heading);
  const auto put_row = [&](const char* cell, const std::vector<std::string>& texts) {
    put("<tr>");
    for (const std::string& text : texts) put("<{0}>{1}</{0}>", cell, report::markup_escaped(text));
    put("</tr>\n");
  };
  if (!heads.empty()) put_row("th", heads);
  for (const std::vector<std::string>& row : rows) put_row("td", row);
  put("</table>\n</div>\n");
}

void HtmlPage::put_chart(const HtmlChart& chart) {
  if (chart.x.empty()) {
    put("<p class='tip' id='plot_{}'>There are no reads.</p>\n", chart.id);
    return;
  }
  const HtmlRange values = range_of(chart.series);
  put("<div class='figure' id='plot_{0}'><canvas data-chart='data_{0}' role='img' "
      "aria-label='{1}: {2}, from {3:.1f} to {4:.1f}, by {5}; the numbers are in the JSON "
      "report'></canvas></div>\n",
      chart.id, chart.title, chart.y_title, values.min, values.max, chart.x_title);
  put("<script type='application/json' id='data_{}'>{{\"title\":\"{}\",\"kind\":\"{}\","
      "\"group\":\"{}\",\"xTitle\":\"{}\",\"yTitle\":\"{}\",\"yMin\":{:.5g},\"yMax\":{:.5g},"
      "\"x\":[{}],\"series\":[",
      chart.id, chart.title, chart.kind, chart.group, chart.x_title, chart.y_title,
      chart.y_range.min, chart.y_range.max, fmt::join(chart.x, ","));
  bool first = true;
  for (const HtmlSeries& one : chart.series) {
    put("{}{{\"name\":\"{}\",\"label\":\"{}\",\"y\":[", first ? "" : ",", one.name, one.label);
    for (std::size_t i = 0; i < one.y.size(); ++i) put("{}{:.5g}", i == 0 ? "" : ",", one.y[i]);
    put("]}}");
    first = false;
  }
  put("]}}</script>\n");
}

HtmlRange range_of(const std::vector<HtmlSeries>& series) {
  HtmlRange range;
  bool first = true;
  for (const HtmlSeries& one : series)
    for (const double y : one.y) {
      range.min = first ? y : std::min(range.min, y);
      range.max = first ? y : std::max(range.max, y);
      first = false;
    }
  return range;
}

std::string number_text(std::uint64_t n) {
  constexpr std::pair<double, const char*> kUnits[] = {{1e12, " T"}, {1e9, " G"}, {1e6, " M"}};
  if (n >= 10'000'000)
    for (const auto& [unit, name] : kUnits)
      if (static_cast<double>(n) >= unit)
        return fmt::format("{:.2f}{}", static_cast<double>(n) / unit, name);
  std::string digits = fmt::format("{}", n);
  for (std::size_t from_end = 3; from_end < digits.size(); from_end += 4)
    digits.insert(digits.size() - from_end, 1, ',');
  return digits;
}

double percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

std::string percent_text(std::uint64_t part, std::uint64_t whole) {
  const double share = percent(part, whole);
  if (part == 0) return "0 %";
  if (share == 100) return "100 %";
  if (share < 0.05) return "<0.1 %";
  if (share < 100 && share >= 99.95) return ">99.9 %";
  return fmt::format("{:.1f} %", share);
}

}  // namespace biogpu::qc
