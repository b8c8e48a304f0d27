#include "lib/align/e_value.hpp"

#include <cmath>

#include "tests/support/catch.hpp"

using namespace biogpu::align;

TEST_CASE("align.e_value: gap costs are Parasail's, one extension above BLAST's", "[align]") {
  const auto blast_11_1 = published_protein_parameters("blosum62", 12, 1);
  REQUIRE(blast_11_1);
  CHECK(blast_11_1->lambda == 0.267);
  CHECK(blast_11_1->k == 0.041);
  CHECK(published_protein_parameters("blosum62", 11, 1)->lambda == 0.243);
  CHECK_FALSE(published_protein_parameters("blosum62", 3, 1));
  CHECK_FALSE(published_protein_parameters("blosum65", 12, 1));
  CHECK(published_nucleotide_parameters(2, -3, 7, 2)->lambda == 0.625);
  CHECK(published_nucleotide_parameters(2, -3, 7, 2)->even_scores);
  CHECK_FALSE(published_nucleotide_parameters(1, -3, 4, 2)->even_scores);
  CHECK_FALSE(published_nucleotide_parameters(2, -3, 5, 2));
}

TEST_CASE("align.e_value: the length adjustment is the greatest that fits", "[align]") {
  const KarlinAltschul p = *published_protein_parameters("blosum62", 12, 1);
  for (const std::uint64_t m : {0u, 1u, 20u, 100u, 567u, 5478u}) {
    for (const Database& database : {Database{0, 0}, Database{1, 1}, Database{300, 1},
                                     Database{1362477, 4298}, Database{200000000, 500000}}) {
      const auto fits = [&](std::uint64_t l) {
        const double left = (static_cast<double>(m) - static_cast<double>(l)) *
                            (static_cast<double>(database.n_residues) -
                             static_cast<double>(database.n_sequences * l));
        return l < m && database.n_sequences * l < database.n_residues &&
               p.k * left > static_cast<double>(std::max(m, database.n_residues)) &&
               static_cast<double>(l) <= p.alpha / p.lambda * std::log(p.k * left) + p.beta;
      };
      const std::uint64_t l = length_adjustment(p, m, database);
      CHECK((l == 0 || fits(l)));
      CHECK_FALSE(fits(l + 1));
    }
  }
}

TEST_CASE("align.e_value: scores of BLAST come out", "[align]") {
  // blastp 2.12 with OLD_FSC=1, -comp_based_stats 0: data/protein_queries.fa in data/proteins.fa.
  const KarlinAltschul p = *published_protein_parameters("blosum62", 12, 1);
  const Database proteins{19606, 40};
  CHECK(std::floor(bit_score(p, 1450)) == 563);
  CHECK(std::abs(bit_score(p, 46) - 22.3) < 0.05);
  CHECK(std::abs(expected_hits(p, 46, 340, proteins) - 0.94) < 0.005);
  CHECK(std::abs(expected_hits(p, 1450, 340, proteins) / 1.47e-163 - 1) < 0.005);
  CHECK(std::abs(expected_hits(p, 991, 249, proteins) / 1.70e-110 - 1) < 0.005);
  const Database database{1362477, 4298};
  CHECK(min_score_for(p, 1e-3, 300, database) > 0);
  for (const double at_most : {10.0, 1e-3, 1e-50}) {
    const std::int32_t score = min_score_for(p, at_most, 300, database);
    CHECK(expected_hits(p, score, 300, database) <= at_most);
    CHECK(expected_hits(p, score - 1, 300, database) > at_most);
  }
  CHECK(min_score_for(p, 1e30, 300, database) == 1);
}

TEST_CASE("align.e_value: E-values of odd scores are rounded where NCBI says so", "[align]") {
  const Database database{5000, 10};
  for (const auto& p : {*published_nucleotide_parameters(2, -3, 7, 2),
                        *published_nucleotide_parameters(3, -4, 8, 2),
                        *published_nucleotide_parameters(2, -7, 6, 2)}) {
    CHECK(expected_hits(p, 41, 90, database) == expected_hits(p, 40, 90, database));
    CHECK(expected_hits(p, 42, 90, database) < expected_hits(p, 40, 90, database));
    CHECK(bit_score(p, 41) > bit_score(p, 40));
  }
  const KarlinAltschul all = *published_nucleotide_parameters(4, -5, 11, 5);
  CHECK(expected_hits(all, 41, 90, database) < expected_hits(all, 40, 90, database));
}
