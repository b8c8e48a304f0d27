#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace biogpu::qc {

// Names and values of a table, as they are: put_table() escapes them.
using HtmlRows = std::vector<std::pair<std::string, std::string>>;

// One curve of a chart.
struct HtmlSeries {
  std::string name;
  std::string label;  // in the legend
  std::vector<double> y;
};

// The text of a page, written piece by piece.
class HtmlPage {
 public:
  template <class... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
  }
  void put_table(const std::string& id, const std::string& heading, const HtmlRows& rows);
  // type: of Chart.js, "line" or "bar"; every series has a value for each x.
  void put_chart(const std::string& id, const char* type, const std::vector<int>& x,
                 const std::vector<HtmlSeries>& series, const char* x_title, const char* y_title);

  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

// Text of a file or of the command line as a page may hold it, between tags or in an attribute: the
// characters that HTML gives a meaning as entities, what is no text as U+FFFD.
std::string html_escaped(std::string_view text);
// "12.345678 M", as fastp shows large numbers.
std::string short_number(std::uint64_t n);
double percent(std::uint64_t part, std::uint64_t whole);  // 0 of nothing
std::string with_percent(std::uint64_t part, std::uint64_t whole);

}  // namespace biogpu::qc
