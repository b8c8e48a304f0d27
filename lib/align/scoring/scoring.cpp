#include "lib/align/scoring/scoring.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "lib/core/error.hpp"

namespace biogpu::align {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The digits at the front, which leave text.
std::string_view take_digits(std::string_view& text) {
  std::size_t n = 0;
  while (n < text.size() && is_digit(text[n])) ++n;
  const std::string_view digits = text.substr(0, n);
  text.remove_prefix(n);
  return digits;
}

constexpr std::string_view kProteinOrder = "ARNDCQEGHILKMFPSTWYVBZX*";
constexpr int kProteinClasses = 24;

// clang-format off
constexpr std::int8_t kBlosum62[kProteinClasses][kProteinClasses] = {
    //A   R   N   D   C   Q   E   G   H   I   L   K   M   F   P   S   T   W   Y   V   B   Z   X   *
    { 4, -1, -2, -2,  0, -1, -1,  0, -2, -1, -1, -1, -1, -2, -1,  1,  0, -3, -2,  0, -2, -1,  0, -4},  // A
    {-1,  5,  0, -2, -3,  1,  0, -2,  0, -3, -2,  2, -1, -3, -2, -1, -1, -3, -2, -3, -1,  0, -1, -4},  // R
    {-2,  0,  6,  1, -3,  0,  0,  0,  1, -3, -3,  0, -2, -3, -2,  1,  0, -4, -2, -3,  3,  0, -1, -4},  // N
    {-2, -2,  1,  6, -3,  0,  2, -1, -1, -3, -4, -1, -3, -3, -1,  0, -1, -4, -3, -3,  4,  1, -1, -4},  // D
    { 0, -3, -3, -3,  9, -3, -4, -3, -3, -1, -1, -3, -1, -2, -3, -1, -1, -2, -2, -1, -3, -3, -2, -4},  // C
    {-1,  1,  0,  0, -3,  5,  2, -2,  0, -3, -2,  1,  0, -3, -1,  0, -1, -2, -1, -2,  0,  3, -1, -4},  // Q
    {-1,  0,  0,  2, -4,  2,  5, -2,  0, -3, -3,  1, -2, -3, -1,  0, -1, -3, -2, -2,  1,  4, -1, -4},  // E
    { 0, -2,  0, -1, -3, -2, -2,  6, -2, -4, -4, -2, -3, -3, -2,  0, -2, -2, -3, -3, -1, -2, -1, -4},  // G
    {-2,  0,  1, -1, -3,  0,  0, -2,  8, -3, -3, -1, -2, -1, -2, -1, -2, -2,  2, -3,  0,  0, -1, -4},  // H
    {-1, -3, -3, -3, -1, -3, -3, -4, -3,  4,  2, -3,  1,  0, -3, -2, -1, -3, -1,  3, -3, -3, -1, -4},  // I
    {-1, -2, -3, -4, -1, -2, -3, -4, -3,  2,  4, -2,  2,  0, -3, -2, -1, -2, -1,  1, -4, -3, -1, -4},  // L
    {-1,  2,  0, -1, -3,  1,  1, -2, -1, -3, -2,  5, -1, -3, -1,  0, -1, -3, -2, -2,  0,  1, -1, -4},  // K
    {-1, -1, -2, -3, -1,  0, -2, -3, -2,  1,  2, -1,  5,  0, -2, -1, -1, -1, -1,  1, -3, -1, -1, -4},  // M
    {-2, -3, -3, -3, -2, -3, -3, -3, -1,  0,  0, -3,  0,  6, -4, -2, -2,  1,  3, -1, -3, -3, -1, -4},  // F
    {-1, -2, -2, -1, -3, -1, -1, -2, -2, -3, -3, -1, -2, -4,  7, -1, -1, -4, -3, -2, -2, -1, -2, -4},  // P
    { 1, -1,  1,  0, -1,  0,  0,  0, -1, -2, -2,  0, -1, -2, -1,  4,  1, -3, -2, -2,  0,  0,  0, -4},  // S
    { 0, -1,  0, -1, -1, -1, -1, -2, -2, -1, -1, -1, -1, -2, -1,  1,  5, -2, -2,  0, -1, -1,  0, -4},  // T
    {-3, -3, -4, -4, -2, -2, -3, -2, -2, -3, -2, -3, -1,  1, -4, -3, -2, 11,  2, -3, -4, -3, -2, -4},  // W
    {-2, -2, -2, -3, -2, -1, -2, -3,  2, -1, -1, -2, -1,  3, -3, -2, -2,  2,  7, -1, -3, -2, -1, -4},  // Y
    { 0, -3, -3, -3, -1, -2, -2, -3, -3,  3,  1, -2,  1, -1, -2, -2,  0, -3, -1,  4, -3, -2, -1, -4},  // V
    {-2, -1,  3,  4, -3,  0,  1, -1,  0, -3, -4,  0, -3, -3, -2,  0, -1, -4, -3, -3,  4,  1, -1, -4},  // B
    {-1,  0,  0,  1, -3,  3,  4, -2,  0, -3, -3,  1, -1, -3, -1,  0, -1, -3, -2, -2,  1,  4, -1, -4},  // Z
    { 0, -1, -1, -1, -2, -1, -1, -1, -1, -1, -1, -1, -1, -1, -2,  0,  0, -2, -1, -1, -1, -1, -1, -4},  // X
    {-4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4,  1},  // *
};
// clang-format on

void require_gaps(int gap_open, int gap_extend) {
  if (gap_open < 0 || gap_extend < 0) {
    throw Error(ErrorCode::usage, "gap costs are " + std::to_string(gap_open) + " and " +
                                      std::to_string(gap_extend) +
                                      "; give them as 0 or more, they are subtracted");
  }
}

std::int8_t checked_score(int value, const char* what) {
  if (value < -127 || value > 127) {
    throw Error(ErrorCode::usage, std::string(what) + " score is " + std::to_string(value) +
                                      "; expected -127 to 127");
  }
  return static_cast<std::int8_t>(value);
}

// Letters of `order` become classes 0, 1, ... in both cases; every other byte falls to `rest`.
void map_letters(Scoring& scoring, std::string_view order, std::uint8_t rest) {
  scoring.class_of.fill(rest);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto letter = static_cast<unsigned char>(order[i]);
    scoring.class_of[letter] = static_cast<std::uint8_t>(i);
    if (letter >= 'A' && letter <= 'Z') {
      scoring.class_of[letter + ('a' - 'A')] = static_cast<std::uint8_t>(i);
    }
  }
}

}  // namespace

int Scoring::max_score() const {
  int best = -128;
  for (int q = 0; q < n_classes; ++q)
    for (int t = 0; t < n_classes; ++t) best = std::max<int>(best, score[q][t]);
  return best;
}

int Scoring::min_score() const {
  int worst = 127;
  for (int q = 0; q < n_classes; ++q)
    for (int t = 0; t < n_classes; ++t) worst = std::min<int>(worst, score[q][t]);
  return worst;
}

Scoring dna_scoring(int match, int mismatch, int gap_open, int gap_extend) {
  require_gaps(gap_open, gap_extend);
  Scoring scoring;
  scoring.gap_open = gap_open;
  scoring.gap_extend = gap_extend;
  scoring.n_classes = 5;
  map_letters(scoring, "ACGT", 4);
  for (int q = 0; q < 4; ++q)
    for (int t = 0; t < 4; ++t)
      scoring.score[q][t] =
          q == t ? checked_score(match, "match") : checked_score(mismatch, "mismatch");
  return scoring;
}

Scoring blosum62_scoring(int gap_open, int gap_extend) {
  require_gaps(gap_open, gap_extend);
  Scoring scoring;
  scoring.gap_open = gap_open;
  scoring.gap_extend = gap_extend;
  scoring.n_classes = kProteinClasses;
  map_letters(scoring, kProteinOrder, kProteinClasses - 1);
  for (int q = 0; q < kProteinClasses; ++q)
    std::copy_n(kBlosum62[q], kProteinClasses, scoring.score[q].begin());
  return scoring;
}

std::string how_to_scale(std::string_view text) {
  constexpr std::size_t kMaxDecimals = 6;
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  const std::string_view whole = take_digits(text);
  if (!text.starts_with('.')) return {};
  text.remove_prefix(1);
  const std::string_view decimals = take_digits(text);
  if (!text.empty() || whole.size() + decimals.size() == 0 || decimals.size() > kMaxDecimals)
    return {};
  std::uint64_t fraction = 0;
  std::uint64_t unit = 1;
  for (const char c : decimals) {
    fraction = 10 * fraction + static_cast<std::uint64_t>(c - '0');
    unit *= 10;
  }
  const std::uint64_t factor = unit / std::gcd(fraction, unit);
  if (factor == 1) return "; leave out the decimals";
  return fmt::format("; multiply all scores and gap costs by {}", factor);
}

}  // namespace biogpu::align
