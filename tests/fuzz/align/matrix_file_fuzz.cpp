// Files of scores in NCBI's form from any bytes: an Error, or a matrix that scoring can use and
// that reads back equal after it was written.
#include "lib/align/scoring/matrix_file.hpp"

#include <string>
#include <string_view>

#include "lib/core/error.hpp"
#include "tests/fuzz/support/memory_file.hpp"

using namespace biogpu;
using fuzz::MemoryFile;
using fuzz::require;

namespace {

std::string as_text(const align::SubstitutionMatrix& matrix) {
  std::string text = " ";
  for (const char letter : matrix.letters) text += std::string(" ") + letter;
  for (std::size_t q = 0; q < matrix.letters.size(); ++q) {
    text += std::string("\n") + matrix.letters[q];
    for (std::size_t t = 0; t < matrix.letters.size(); ++t)
      text += " " + std::to_string(matrix.score[q][t]);
  }
  return text + "\n";
}

void check_scoring(const align::SubstitutionMatrix& matrix, bool case_sensitive) {
  const align::Scoring scoring = align::matrix_scoring(matrix, 11, 1, case_sensitive);
  require(scoring.n_classes >= 1 && scoring.n_classes <= align::kMaxClasses, "number of classes");
  for (const std::uint8_t each : scoring.class_of)
    require(each < scoring.n_classes, "a byte of no class");
  for (std::size_t i = 0; i < matrix.letters.size(); ++i)
    require(scoring.class_of[static_cast<unsigned char>(matrix.letters[i])] == i,
            "a letter of another class");
  require(scoring.min_score() >= -127 && scoring.max_score() <= 127,
          "a score outside of its range");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n) {
  const MemoryFile file(bytes, n);
  try {
    const align::SubstitutionMatrix matrix = align::read_matrix(file.path());
    check_scoring(matrix, false);
    check_scoring(matrix, true);
    const std::string text = as_text(matrix);
    const MemoryFile copy(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
    const align::SubstitutionMatrix again = align::read_matrix(copy.path());
    require(
        again.letters == matrix.letters && again.score == matrix.score && again.rest == matrix.rest,
        "a written matrix reads back differently");
  } catch (const Error& error) {
    const std::string_view what = error.what();
    require(error.code() == ErrorCode::bad_input || error.code() == ErrorCode::failed,
            "an error of another kind");
    require(what.starts_with(file.path()), "an error without its file");
    require(what.find('\n') == std::string_view::npos && what.size() < 400,
            "an error of more than one line");
  }
  return 0;
}
