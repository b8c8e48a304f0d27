#include "lib/qc/report/html_page.hpp"

#include <nlohmann/json.hpp>

namespace biogpu::qc {

void HtmlPage::put_table(const std::string& id, const std::string& heading, const HtmlRows& rows) {
  put("<div id='{}'>\n<h3>{}</h3>\n<table class='summary_table'>\n", id, heading);
  for (const auto& [name, value] : rows)
    put("<tr><td>{}</td><td>{}</td></tr>\n", html_escaped(name), html_escaped(value));
  put("</table>\n</div>\n");
}

void HtmlPage::put_chart(const std::string& id, const char* type, const std::vector<int>& x,
                         const std::vector<HtmlSeries>& series, const char* x_title,
                         const char* y_title) {
  put("<div class='figure' id='plot_{0}'><canvas data-chart='data_{0}' role='img' "
      "aria-label='{1} by {2}; the numbers are in the JSON report'></canvas></div>\n",
      id, y_title, x_title);
  put("<script type='application/json' id='data_{}'>{{\"type\":\"{}\",\"xTitle\":\"{}\","
      "\"yTitle\":\"{}\",\"x\":[{}],\"series\":[",
      id, type, x_title, y_title, fmt::join(x, ","));
  bool first = true;
  for (const HtmlSeries& one : series) {
    put("{}{{\"name\":\"{}\",\"label\":\"{}\",\"y\":[", first ? "" : ",", one.name, one.label);
    for (std::size_t i = 0; i < one.y.size(); ++i) put("{}{:.5g}", i == 0 ? "" : ",", one.y[i]);
    put("]}}");
    first = false;
  }
  put("]}}</script>\n");
}

std::string html_escaped(std::string_view text) {
  // Bytes that are no UTF-8 become U+FFFD here, and control characters below.
  using nlohmann::json;
  const std::string valid =
      json::parse(json(text).dump(-1, ' ', false, json::error_handler_t::replace))
          .get<std::string>();
  std::string out;
  for (const char c : valid) {
    if ((static_cast<unsigned char>(c) < ' ' && c != '\t' && c != '\n') || c == '\x7f')
      out += "&#xfffd;";
    else if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else if (c == '\'')
      out += "&#39;";
    else
      out += c;
  }
  return out;
}

// "12.345678 M", as fastp shows large numbers.
std::string short_number(std::uint64_t n) {
  constexpr std::pair<double, const char*> kUnits[] = {{1e9, " G"}, {1e6, " M"}, {1e3, " K"}};
  for (const auto& [unit, name] : kUnits)
    if (static_cast<double>(n) >= unit)
      return fmt::format("{:f}{}", static_cast<double>(n) / unit, name);
  return fmt::format("{}", n);
}

double percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

std::string with_percent(std::uint64_t part, std::uint64_t whole) {
  return fmt::format("{} ({:f}%)", short_number(part), percent(part, whole));
}

}  // namespace biogpu::qc
