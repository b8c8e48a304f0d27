#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace biogpu::kmer {

// A matrix of n_rows x columns.size() bits, n_rows <= 63: columns[i] holds the rows of column i in
// its low bits. Column 0 belongs to the highest bit of a vector of columns.size() bits.
struct BitMatrix {
  int n_rows = 0;
  std::vector<std::uint64_t> columns;

  friend bool operator==(const BitMatrix&, const BitMatrix&) = default;
};

// The matrix that Jellyfish 2 places k-mers of n_columns bits with in a table of 2^n_rows slots:
// drawn from the C library's generator with its default seed, drawn again until its last n_rows
// columns are independent, and inverted as in invert().
// Facts: G. Marcais, C. Kingsford, doi:10.1093/bioinformatics/btr011, and Jellyfish's files.
BitMatrix jellyfish_matrix(int n_rows, int n_columns);

// The first n numbers of 64 bits that Jellyfish draws, for its other matrices.
std::vector<std::uint64_t> jellyfish_draws(std::size_t n);

// M = [A B], B square: takes (high, low) to A high + B low. The inverse is the matrix that takes
// (high, A high + B low) back to low. Empty when B is singular.
BitMatrix invert(const BitMatrix& matrix);

}  // namespace biogpu::kmer
