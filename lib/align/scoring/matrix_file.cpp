#include "lib/align/scoring/matrix_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <sstream>
#include <utility>

#include "lib/align/scoring/scoring.hpp"
#include "lib/core/error.hpp"
#include "lib/core/quote.hpp"
#include "lib/io/line_reader.hpp"

namespace biogpu::align {
namespace {

constexpr int kLowest = -127;
constexpr int kHighest = 127;

class Reader {
 public:
  explicit Reader(const std::string& path) : lines_(path, "letters or a row of scores") {
    matrix_.name = path;
  }

  SubstitutionMatrix read() {
    std::string line;
    while (next(line)) {
      std::istringstream words(line);
      if (matrix_.letters.empty())
        read_letters(words);
      else
        read_row(words);
    }
    if (matrix_.letters.empty()) bad("no matrix; expected a line of letters and a row for each");
    if (n_rows_ != matrix_.letters.size())
      bad(
          fmt::format("{} rows for {} letters; expected a square matrix (position-specific ones "
                      "cannot be read)",
                      n_rows_, matrix_.letters.size()));
    add_rest();
    return std::move(matrix_);
  }

 private:
  [[noreturn]] void bad(const std::string& what) const {
    throw Error(ErrorCode::bad_input,
                fmt::format("{}: line {}: {}", lines_.label(), lines_.number(), what));
  }

  // The next line that is neither blank nor a comment.
  bool next(std::string& line) {
    while (lines_.next(line)) {
      line.resize(std::min(line.find('#'), line.size()));
      if (line.find_first_not_of(" \t\r") != std::string::npos) return true;
    }
    return false;
  }

  void read_letters(std::istringstream& words) {
    for (std::string word; words >> word;) {
      if (word.size() != 1)
        bad(fmt::format("{} for a letter; expected one byte each", quoted(word)));
      for (const char letter : matrix_.letters)
        if (same_letter(letter, word[0]))
          bad(fmt::format("the letter {} comes twice", quoted(word)));
      matrix_.letters += word;
    }
    const bool star = matrix_.letters.find('*') != std::string::npos;
    if (matrix_.letters.size() + (star ? 0 : 1) > kMaxClasses)
      bad(fmt::format("{} letters; expected at most {}, '*' included", matrix_.letters.size(),
                      kMaxClasses));
  }

  static bool same_letter(char a, char b) {
    const auto upper = [](char c) { return c >= 'a' && c <= 'z' ? c - 'a' + 'A' : int{c}; };
    return upper(a) == upper(b);
  }

  void read_row(std::istringstream& words) {
    std::string word;
    words >> word;
    const std::size_t row = n_rows_++;
    if (row >= matrix_.letters.size() || word != matrix_.letters.substr(row, 1))
      bad(
          fmt::format("row {}; expected the rows of the letters {} in this order (position-"
                      "specific matrices cannot be read)",
                      quoted(word), shortened(matrix_.letters)));
    for (std::size_t column = 0; column < matrix_.letters.size(); ++column)
      matrix_.score[row][column] = read_score(words);
    if (words >> word) bad(fmt::format("{} after the last score of the row", quoted(word)));
  }

  std::int8_t read_score(std::istringstream& words) {
    std::string word;
    words >> word;
    int value = 0;
    const char* end = word.data() + word.size();
    const auto [last, error] = std::from_chars(word.data(), end, value);
    if (word.empty()) bad("a score is missing");
    if (error != std::errc{} || last != end || value < kLowest || value > kHighest)
      bad(fmt::format("score {}; expected a whole number from {} to {}{}", quoted(word), kLowest,
                      kHighest, how_to_scale(word)));
    return static_cast<std::int8_t>(value);
  }

  // Without '*' bytes that are no letters get a class of the lowest score.
  void add_rest() {
    const std::size_t n = matrix_.letters.size();
    const std::size_t star = matrix_.letters.find('*');
    matrix_.rest = static_cast<int>(std::min(star, n));
    if (star != std::string::npos) return;
    std::int8_t lowest = matrix_.score[0][0];
    for (std::size_t q = 0; q < n; ++q)
      for (std::size_t t = 0; t < n; ++t) lowest = std::min(lowest, matrix_.score[q][t]);
    for (std::size_t i = 0; i <= n; ++i) matrix_.score[i][n] = matrix_.score[n][i] = lowest;
  }

  io::LineReader lines_;
  SubstitutionMatrix matrix_;
  std::size_t n_rows_ = 0;
};

}  // namespace

SubstitutionMatrix read_matrix(const std::string& path) { return Reader(path).read(); }

}  // namespace biogpu::align
