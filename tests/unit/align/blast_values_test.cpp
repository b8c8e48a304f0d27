// Scores, bits and E-values of every published scheme, as BLAST printed them (tests/data/align),
// and that every protein matrix has the scale of its parameters.
#include <array>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "lib/align/align.hpp"
#include "lib/align/e_value.hpp"
#include "lib/align/scoring/substitution_matrices.hpp"
#include "tests/support/catch.hpp"

using namespace biogpu::align;

namespace {

const std::string kFolder = BIOGPU_TEST_DATA_DIR "/align/";

// The sequences of a file with one line for each.
std::vector<std::string> sequences(const std::string& name) {
  std::ifstream file(kFolder + name);
  std::vector<std::string> found;
  for (std::string line; std::getline(file, line);)
    if (line[0] != '>') found.push_back(line);
  REQUIRE_FALSE(found.empty());
  return found;
}

std::vector<std::vector<std::string>> rows(const std::string& name) {
  std::ifstream file(kFolder + name);
  std::vector<std::vector<std::string>> found;
  for (std::string line; std::getline(file, line);) {
    if (line[0] == '#') continue;
    std::istringstream words(line);
    auto& row = found.emplace_back();
    for (std::string word; words >> word;) row.push_back(word);
  }
  return found;
}

std::vector<std::uint8_t> classes(const std::string& text, const Scoring& scoring) {
  std::vector<std::uint8_t> found;
  for (const char c : text) found.push_back(scoring.class_of[static_cast<unsigned char>(c)]);
  return found;
}

struct Expected {
  int score;
  double bits, evalue;
};

// rest: target, score, bits, E-value.
Expected expected(const std::vector<std::string>& row, std::size_t rest) {
  return {std::stoi(row[rest + 1]), std::stod(row[rest + 2]), std::stod(row[rest + 3])};
}

// BLAST prints bits above 99.9 without their fraction, E-values to three digits.
void check_values(const KarlinAltschul& parameters, const Expected& blast, std::uint64_t m,
                  const Database& database) {
  const double bits = bit_score(parameters, blast.score);
  if (bits > 99.9)
    CHECK(std::floor(bits) == blast.bits);
  else
    CHECK(std::abs(bits - blast.bits) < 0.05001);
  const double evalue = expected_hits(parameters, blast.score, m, database);
  CHECK(std::abs(evalue / blast.evalue - 1) < 0.00501);
}

int local_score(const Scoring& scoring, const std::string& query, const std::string& target) {
  Options options;
  options.mode = Mode::local;
  options.output = Output::score;
  options.scoring = scoring;
  const auto q = classes(query, scoring);
  const auto t = classes(target, scoring);
  const std::array<std::uint64_t, 2> q_begin{0, q.size()};
  const std::array<std::uint64_t, 2> t_begin{0, t.size()};
  const std::array<Pair, 1> pair{};
  return align_ref({{q, q_begin}, {t, t_begin}, pair}, options).rows[0].score;
}

Database database_of(const std::vector<std::string>& targets) {
  Database database{0, targets.size()};
  for (const std::string& target : targets) database.n_residues += target.size();
  return database;
}

}  // namespace

TEST_CASE("align.blast_values: proteins, every matrix and gap row", "[align]") {
  const std::string query = sequences("blastp_query.fa")[0];
  const auto targets = sequences("blastp_targets.fa");
  int n_rows = 0;
  for (const auto& row : rows("blastp.tsv")) {
    CAPTURE(row[0], row[1], row[2], row[3]);
    REQUIRE(row.size() == 7);
    const int extend = std::stoi(row[2]);
    const int open = parasail_gap_open(std::stoi(row[1]), extend);
    const Expected blast = expected(row, 3);
    const auto parameters = published_protein_parameters(row[0], open, extend);
    REQUIRE(parameters);
    check_values(*parameters, blast, query.size(), database_of(targets));
    const Scoring scoring = matrix_scoring(*built_in_matrix(row[0]), open, extend);
    CHECK(local_score(scoring, query, targets[std::stoul(row[3].substr(1)) - 1]) == blast.score);
    ++n_rows;
  }
  CHECK(n_rows == 2 * 82);
}

TEST_CASE("align.blast_values: nucleotides, every row, even and odd scores", "[align]") {
  const std::string query = sequences("blastn_query.fa")[0];
  const auto targets = sequences("blastn_targets.fa");
  int n_rows = 0;
  for (const auto& row : rows("blastn.tsv")) {
    CAPTURE(row[0], row[1], row[2], row[3], row[4]);
    REQUIRE(row.size() == 8);
    const int match = std::stoi(row[0]);
    const int mismatch = std::stoi(row[1]);
    const int extend = std::stoi(row[3]);
    const int open = parasail_gap_open(std::stoi(row[2]), extend);
    const Expected blast = expected(row, 4);
    const auto parameters = published_nucleotide_parameters(match, mismatch, open, extend);
    REQUIRE(parameters);
    check_values(*parameters, blast, query.size(), database_of(targets));
    CHECK(local_score(dna_scoring(match, mismatch, open, extend), query,
                      targets[std::stoul(row[4].substr(1)) - 1]) == blast.score);
    ++n_rows;
  }
  CHECK(n_rows == 2 * 52);
}

TEST_CASE("align.blast_values: every matrix has the scale of its parameters", "[align]") {
  // Frequencies of A. B. Robinson and L. R. Robinson, doi:10.1073/pnas.88.20.8880, and the lambda
  // of ungapped alignments that BLAST publishes for each matrix: sum of p_i p_j exp(lambda s_ij)
  // is 1.
  constexpr std::string_view kLetters = "ARNDCQEGHILKMFPSTWYV";
  constexpr std::array kFrequencies = {78.05, 51.29, 44.87, 53.64, 19.25, 42.64, 62.95,
                                       73.77, 21.99, 51.42, 90.19, 57.44, 22.43, 38.56,
                                       52.03, 71.20, 58.41, 13.30, 32.16, 64.41};
  struct Scale {
    const char* matrix;
    double lambda;
  };
  for (const Scale& scale :
       {Scale{"blosum45", 0.2291}, Scale{"blosum50", 0.2318}, Scale{"blosum62", 0.3176},
        Scale{"blosum80", 0.3430}, Scale{"blosum90", 0.3346}, Scale{"pam30", 0.3400},
        Scale{"pam70", 0.3345}, Scale{"pam250", 0.2252}}) {
    CAPTURE(scale.matrix);
    const Scoring scoring = matrix_scoring(*built_in_matrix(scale.matrix), 11, 1);
    const auto sum = [&](double lambda) {
      double total = 0;
      double all = 0;
      for (std::size_t i = 0; i < kLetters.size(); ++i)
        for (std::size_t j = 0; j < kLetters.size(); ++j) {
          const auto q = scoring.class_of[static_cast<unsigned char>(kLetters[i])];
          const auto t = scoring.class_of[static_cast<unsigned char>(kLetters[j])];
          all += kFrequencies[i] * kFrequencies[j];
          total += kFrequencies[i] * kFrequencies[j] * std::exp(lambda * scoring.score[q][t]);
        }
      return total / all;
    };
    CHECK(sum(scale.lambda - 0.0001) < 1);
    CHECK(sum(scale.lambda + 0.0001) > 1);
  }
}
