#include "lib/align/scoring/substitution_matrices.hpp"

#include <cstdio>
#include <fstream>
#include <set>
#include <string>

#ifdef BIOGPU_HAVE_PARASAIL
#include <parasail.h>
#include <parasail/matrix_lookup.h>
#endif

#include "lib/align/scoring/matrix_file.hpp"
#include "lib/core/error.hpp"
#include "tests/support/catch.hpp"

using namespace biogpu;
using namespace biogpu::align;

namespace {

int score_of(const Scoring& s, char query, char target) {
  return s.score[s.class_of[static_cast<unsigned char>(query)]]
                [s.class_of[static_cast<unsigned char>(target)]];
}

// A file that lives as long as the test.
struct TextFile {
  explicit TextFile(const std::string& text) { std::ofstream(path) << text; }
  ~TextFile() { std::remove(path.c_str()); }
  std::string path =
      "substitution_matrices_test_" + std::to_string(reinterpret_cast<std::uintptr_t>(this));
};

// Whether a matrix of this text is refused with these words.
bool error_has(const std::string& text, const std::string& words) {
  const TextFile file(text);
  try {
    read_matrix(file.path);
  } catch (const Error& error) {
    return std::string(error.what()).find(words) != std::string::npos;
  }
  return false;
}

}  // namespace

TEST_CASE("align.matrices: every name is found and no other", "[align]") {
  const auto names = matrix_names();
  CHECK(names.size() == 69);
  CHECK(std::set(names.begin(), names.end()).size() == names.size());
  for (const auto name : names) {
    const auto matrix = built_in_matrix(name);
    REQUIRE(matrix);
    CHECK(matrix->name == name);
    CHECK(matrix->is_nucleotide() == (name == "nuc44" || name == "dnafull"));
  }
  CHECK_FALSE(built_in_matrix("blosum"));
  CHECK_FALSE(built_in_matrix("BLOSUM62"));
  CHECK_FALSE(built_in_matrix(""));
}

TEST_CASE("align.matrices: names of NCBI and EMBOSS lead to the same matrices", "[align]") {
  CHECK(known_matrix_name("BLOSUM45") == "blosum45");
  CHECK(known_matrix_name("EBLOSUM45") == "blosum45");
  CHECK(known_matrix_name("epam120") == "pam120");
  CHECK(known_matrix_name("EDNAFULL") == "dnafull");
  CHECK(known_matrix_name("DNAfull") == "dnafull");
  CHECK(known_matrix_name("NUC.4.4") == "nuc44");
  CHECK(known_matrix_name("EBLOSUMN") == "blosumn");
  CHECK(known_matrix_name("BLOSUM80") == "blosum80");
  CHECK(known_matrix_name("EBLOSUM80") == "blosum80_3");
  CHECK(parasail_matrix_name("pam10") == "pam10");
  CHECK(parasail_matrix_name("blosum80") == "blosum80_3");
  CHECK(parasail_matrix_name("blosum80_3").empty());
  CHECK(parasail_matrix_name("BLOSUM62").empty());
}

TEST_CASE("align.matrices: unknown bytes take the last class", "[align]") {
  const Scoring protein = matrix_scoring(*built_in_matrix("blosum62"), 11, 1);
  CHECK(score_of(protein, 'W', 'w') == 11);
  CHECK(score_of(protein, 'J', 'O') == 1);
  CHECK(score_of(protein, 'U', 'A') == -4);
  CHECK(protein.score == blosum62_scoring(11, 1).score);
  CHECK(protein.class_of == blosum62_scoring(11, 1).class_of);
  const Scoring dna = matrix_scoring(*built_in_matrix("dnafull"), 10, 1);
  CHECK(score_of(dna, 'T', 'u') == 5);
  CHECK(score_of(dna, 'X', 'T') == 5);
  CHECK(score_of(dna, 'N', 'N') == -1);
  const Scoring nuc44 = matrix_scoring(*built_in_matrix("nuc44"), 10, 1);
  CHECK(score_of(nuc44, 'U', 'T') == -4);
}

TEST_CASE("align.matrices: case can matter", "[align]") {
  const Scoring scoring = matrix_scoring(*built_in_matrix("blosum62"), 11, 1, true);
  CHECK(score_of(scoring, 'W', 'W') == 11);
  CHECK(score_of(scoring, 'W', 'w') == -4);
}

#ifdef BIOGPU_HAVE_PARASAIL
TEST_CASE("align.matrices: every entry is Parasail's", "[align]") {
  int n_seen = 0;
  for (int i = 0; parasail_matrices[i] != nullptr; ++i, ++n_seen) {
    const parasail_matrix_t& expected = *parasail_matrices[i];
    const auto matrix = built_in_matrix(parasail_matrix_name(expected.name));
    REQUIRE(matrix);
    CAPTURE(matrix->name);
    CHECK(matrix->letters == expected.alphabet);
    REQUIRE(matrix->n_classes() == expected.size);
    const Scoring scoring = matrix_scoring(*matrix, 10, 1);
    CHECK(scoring.max_score() == expected.max);
    CHECK(scoring.min_score() == expected.min);
    bool same = true;
    for (int byte = 0; byte < 256; ++byte)
      same &= scoring.class_of[static_cast<std::size_t>(byte)] == expected.mapper[byte];
    for (int q = 0; q < expected.size; ++q)
      for (int t = 0; t < expected.size; ++t)
        same &= scoring.score[static_cast<std::size_t>(q)][static_cast<std::size_t>(t)] ==
                expected.matrix[q * expected.size + t];
    CHECK(same);
  }
  CHECK(n_seen == 68);
}
#endif

TEST_CASE("align.matrix_file: rows are query residues and need not be symmetric", "[align]") {
  const TextFile file(
      "# a comment\n\n   A  C  *   # letters\nA  5 -2 -9\r\nC -1 7 -9\n* -9 -9 1\n");
  const SubstitutionMatrix matrix = read_matrix(file.path);
  CHECK(matrix.letters == "AC*");
  CHECK(matrix.rest == 2);
  CHECK(matrix.n_classes() == 3);
  const Scoring scoring = matrix_scoring(matrix, 3, 1);
  CHECK(score_of(scoring, 'a', 'C') == -2);
  CHECK(score_of(scoring, 'C', 'a') == -1);
  CHECK(score_of(scoring, '-', 'N') == 1);
}

TEST_CASE("align.matrix_file: without '*' other bytes score the lowest value", "[align]") {
  const TextFile file("A C\nA 5 -2\nC -3 7\n");
  const SubstitutionMatrix matrix = read_matrix(file.path);
  CHECK(matrix.n_classes() == 3);
  CHECK(matrix.is_nucleotide());
  const Scoring scoring = matrix_scoring(matrix, 3, 1);
  CHECK(score_of(scoring, 'N', 'N') == -3);
  CHECK(score_of(scoring, 'A', 'N') == -3);
}

TEST_CASE("align.matrix_file: what is wrong is said with the line", "[align]") {
  CHECK(error_has("", "no matrix"));
  CHECK(error_has("A AC\n", "line 1: 'AC' for a letter"));
  CHECK(error_has("A a\n", "comes twice"));
  CHECK(error_has("A C\nA 1 2\n", "1 rows for 2 letters"));
  CHECK(error_has("A C\nC 1 2\n", "line 2: row 'C'; expected the rows"));
  CHECK(error_has("A C\nA 1 2\nC 1 2\nG 1 2\n", "line 4: row 'G'"));
  CHECK(error_has("A C\nA 1\n", "line 2: a score is missing"));
  CHECK(error_has("A C\nA 1 2 3\n", "'3' after the last score"));
  CHECK(error_has("A C\nA 1 200\n", "score '200'; expected a whole number"));
  CHECK(error_has("A C\nA 1 x\n", "score 'x'"));
  CHECK(error_has("A C\nA 1 0.25\n", "multiply all scores and gap costs by 4"));
  CHECK(error_has("A " + std::string(5000, 'C') + "\n", "CCC...' (5000 bytes) for a letter"));
  CHECK(error_has("A C\nA 1 " + std::string(5000, '9') + "\n", "...' (5000 bytes)"));
  CHECK(error_has("A C\n\x1b[31mA 1 2\n", "row '\\x1b[31mA'"));
  CHECK(
      error_has("A C\nA 1 2\n# " + std::string(1u << 21, 'x'), "line 3: more than 1048576 bytes"));
  CHECK_THROWS_AS(read_matrix("no/such/file"), Error);
}
