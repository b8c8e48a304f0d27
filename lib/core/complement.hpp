#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace biogpu {

namespace detail {
constexpr std::array<char, 256> make_complement_table() {
  std::array<char, 256> table{};
  for (std::size_t byte = 0; byte < table.size(); ++byte) table[byte] = static_cast<char>(byte);
  constexpr std::string_view kFrom = "ACGTURYKMBVDHSWNacgturykmbvdhswn";
  constexpr std::string_view kTo = "TGCAAYRMKVBHDSWNtgcaayrmkvbhdswn";
  for (std::size_t i = 0; i < kFrom.size(); ++i)
    table[static_cast<unsigned char>(kFrom[i])] = kTo[i];
  return table;
}
inline constexpr std::array<char, 256> kComplementTable = make_complement_table();
}  // namespace detail

// The complement of an IUPAC code of a base, in its case; of U it is A. Other characters stay.
constexpr char complement_iupac(char base) {
  return detail::kComplementTable[static_cast<unsigned char>(base)];
}

inline std::string reverse_complement_iupac(std::string_view bases) {
  std::string reversed(bases.rbegin(), bases.rend());
  for (char& base : reversed) base = complement_iupac(base);
  return reversed;
}

// The complement as fastp takes it: upper case, N for every other letter.
constexpr char complement_acgt(char base) {
  switch (base) {
    case 'A':
    case 'a':
      return 'T';
    case 'T':
    case 't':
      return 'A';
    case 'C':
    case 'c':
      return 'G';
    case 'G':
    case 'g':
      return 'C';
    default:
      return 'N';
  }
}

}  // namespace biogpu
