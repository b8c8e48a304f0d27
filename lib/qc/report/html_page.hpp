#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace biogpu::qc {

// The cells of a table, as they are: put_table() escapes them.
using HtmlRows = std::vector<std::vector<std::string>>;

// One curve of a chart.
struct HtmlSeries {
  std::string name;   // by which page.js chooses its colour
  std::string label;  // in the legend
  std::vector<double> y;
};

struct HtmlRange {
  double min = 0;
  double max = 0;
};

// A chart of curves over the same x.
struct HtmlChart {
  std::string id;
  std::string heading;  // above it
  std::string title;    // on its own: of a saved picture, and for readers who see none
  const char* kind;     // "quality", with the ranges of qualities, "line" or "area"
  std::string group;    // charts of one group are zoomed together
  const char* x_title;
  const char* y_title;
  HtmlRange y_range;
  std::vector<int> x;
  std::vector<HtmlSeries> series;  // each with a value for each x
};

// The text of a page, written piece by piece.
class HtmlPage {
 public:
  template <class... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
  }
  // heads: of the columns, none where empty. The first column is text, the others are numbers.
  void put_table(const std::string& id, const std::string& heading,
                 const std::vector<std::string>& heads, const HtmlRows& rows);
  void put_chart(const HtmlChart& chart);

  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

// The lowest and highest value; 0 and 0 of none.
HtmlRange range_of(const std::vector<HtmlSeries>& series);

// "80,000"; from ten million on "12.07 M".
std::string number_text(std::uint64_t n);
double percent(std::uint64_t part, std::uint64_t whole);  // 0 of nothing
// "93.9 %". A share that is not 0 or 1 is shown neither as 0 % nor as 100 %: "<0.1 %", ">99.9 %".
std::string percent_text(std::uint64_t part, std::uint64_t whole);

}  // namespace biogpu::qc
