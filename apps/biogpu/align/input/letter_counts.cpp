#include "apps/biogpu/align/input/letter_counts.hpp"

#include <array>

namespace biogpu::app {
namespace {

std::array<bool, 256> table_of(std::string_view letters) {
  std::array<bool, 256> table{};
  for (const char c : letters) table[static_cast<unsigned char>(c)] = true;
  return table;
}

}  // namespace

void LetterCounts::add(std::string_view sequence) {
  static const auto is_base = table_of("ACGTUNacgtun");
  static const auto is_of_proteins = table_of("EFILPQefilpq");
  all += sequence.size();
  for (const char c : sequence) {
    bases += is_base[static_cast<unsigned char>(c)];
    of_proteins += is_of_proteins[static_cast<unsigned char>(c)];
  }
}

}  // namespace biogpu::app
