#include "lib/align/scoring/substitution_matrices.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>

#include "lib/align/scoring/letter_case.hpp"
#include "lib/align/scoring/matrix_text.hpp"

namespace biogpu::align {
namespace {

constexpr char kKeyword[] = "\nmatrix ";
constexpr std::string_view kNucleotides = "ACGTUSWRYKMBVHDN*";

char to_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// The text after "matrix " of each block, in order.
template <class Function>
void for_each_block(Function&& function) {
  for (const std::string_view family : kMatrixText) {
    for (std::size_t at = family.find(kKeyword); at != std::string_view::npos;) {
      const std::size_t begin = at + sizeof kKeyword - 1;
      at = family.find(kKeyword, begin);
      function(family.substr(begin, at - begin));
    }
  }
}

std::string_view word(std::string_view& text) {
  const std::size_t begin = text.find_first_not_of(" \n");
  if (begin == std::string_view::npos) return text = {};
  const std::size_t end = std::min(text.find_first_of(" \n", begin), text.size());
  const std::string_view found = text.substr(begin, end - begin);
  text.remove_prefix(end);
  return found;
}

SubstitutionMatrix parse(std::string_view block) {
  SubstitutionMatrix matrix;
  matrix.name = word(block);
  matrix.letters = word(block);
  matrix.rest = static_cast<int>(matrix.letters.size()) - 1;
  for (std::size_t q = 0; q < matrix.letters.size(); ++q) {
    for (std::size_t t = 0; t <= q; ++t) {
      const std::string_view number = word(block);
      int value = 0;
      std::from_chars(number.data(), number.data() + number.size(), value);
      matrix.score[q][t] = matrix.score[t][q] = static_cast<std::int8_t>(value);
    }
  }
  return matrix;
}

}  // namespace

int SubstitutionMatrix::n_classes() const {
  return std::max(static_cast<int>(letters.size()), rest + 1);
}

bool SubstitutionMatrix::is_nucleotide() const {
  return std::all_of(letters.begin(), letters.end(), [](char c) {
    return kNucleotides.find(to_upper(c)) != std::string_view::npos;
  });
}

std::vector<std::string_view> matrix_names() {
  std::vector<std::string_view> names;
  for_each_block([&](std::string_view block) { names.push_back(word(block)); });
  return names;
}

std::string known_matrix_name(std::string_view name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(), to_lower);
  if (lower == "nuc.4.4" || lower == "nuc4.4") return "nuc44";
  // EMBOSS puts an E in front of the names of NCBI's files.
  if (lower == "eblosum80") return "blosum80_3";
  if (lower == "ednafull" || lower.starts_with("eblosum") || lower.starts_with("epam"))
    return lower.substr(1);
  return lower;
}

std::string parasail_matrix_name(std::string_view name) {
  if (name == "blosum80") return "blosum80_3";
  const auto names = matrix_names();
  const bool known =
      name != "blosum80_3" && std::find(names.begin(), names.end(), name) != names.end();
  return known ? std::string(name) : std::string();
}

std::optional<SubstitutionMatrix> built_in_matrix(std::string_view name) {
  std::optional<SubstitutionMatrix> found;
  for_each_block([&](std::string_view block) {
    std::string_view rest = block;
    if (word(rest) == name) found = parse(block);
  });
  return found;
}

Scoring matrix_scoring(const SubstitutionMatrix& matrix, int gap_open, int gap_extend,
                       bool case_sensitive) {
  Scoring scoring;
  scoring.gap_open = gap_open;
  scoring.gap_extend = gap_extend;
  scoring.n_classes = matrix.n_classes();
  scoring.score = matrix.score;
  scoring.class_of.fill(static_cast<std::uint8_t>(matrix.rest));
  for (std::size_t i = 0; i < matrix.letters.size(); ++i) {
    const char letter = matrix.letters[i];
    const auto index = static_cast<std::uint8_t>(i);
    scoring.class_of[static_cast<unsigned char>(letter)] = index;
    if (case_sensitive) continue;
    scoring.class_of[static_cast<unsigned char>(to_upper(letter))] = index;
    scoring.class_of[static_cast<unsigned char>(to_lower(letter))] = index;
  }
  return scoring;
}

}  // namespace biogpu::align
