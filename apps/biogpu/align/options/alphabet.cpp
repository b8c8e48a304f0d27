#include "apps/biogpu/align/options/alphabet.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "apps/biogpu/align/options/scoring.hpp"
#include "lib/core/error.hpp"

namespace biogpu::app {
namespace {

// Letters that are enough to decide.
constexpr std::uint64_t kMaxLetters = 1u << 16;
constexpr std::uint64_t kMinOfDna = 20;  // a protein has so many of A, C, G, T, N in no place
constexpr std::uint64_t kMinOfProtein = 10;

std::array<bool, 256> table_of(std::string_view letters) {
  std::array<bool, 256> table{};
  for (const char c : letters) table[static_cast<unsigned char>(c)] = true;
  return table;
}

struct LetterCounts {
  std::uint64_t all = 0;
  std::uint64_t bases = 0;        // with U and N
  std::uint64_t of_proteins = 0;  // no IUPAC code of a nucleotide

  bool mostly_bases() const { return bases * 10 >= all * 9; }
};

LetterCounts count_letters(const io::SequenceBatch& batch) {
  const auto is_base = table_of("ACGTUNacgtun");
  const auto is_of_proteins = table_of("EFILPQefilpq");
  LetterCounts counts;
  for (std::size_t i = 0; i < batch.size() && counts.all < kMaxLetters; ++i)
    for (const char c : batch.sequence(i).substr(0, kMaxLetters)) {
      ++counts.all;
      counts.bases += is_base[static_cast<unsigned char>(c)];
      counts.of_proteins += is_of_proteins[static_cast<unsigned char>(c)];
    }
  return counts;
}

[[noreturn]] void throw_not_dna(const std::string& path, const std::string& what) {
  throw Error(ErrorCode::bad_input,
              fmt::format("{}: its first sequences look like proteins, {}; --alphabet dna or "
                          "--alphabet protein aligns them all the same",
                          path, what));
}

}  // namespace

Alphabet look_of(const io::SequenceBatch& batch) {
  const LetterCounts counts = count_letters(batch);
  if (counts.all >= kMinOfDna && counts.mostly_bases()) return Alphabet::dna;
  if (counts.all >= kMinOfProtein && counts.of_proteins * 10 >= counts.all)
    return Alphabet::protein;
  return Alphabet::automatic;
}

Alphabet choose_alphabet(const AlignFlags& flags, const UnitReader& reader) {
  const Alphabet stated = stated_alphabet(flags);
  if (flags.alphabet != Alphabet::automatic) return stated;
  const Alphabet queries = look_of(reader.first_queries());
  const Alphabet targets = reader.one_set() ? queries : look_of(reader.first_targets());
  const std::string& query_path = reader.query_reader().path();
  const std::string& target_path = reader.target_reader().path();
  if (queries == Alphabet::protein && targets == Alphabet::dna)
    throw_not_dna(query_path, fmt::format("those of {} like DNA", target_path));
  if (queries == Alphabet::dna && targets == Alphabet::protein)
    throw_not_dna(target_path, fmt::format("those of {} like DNA", query_path));
  if (stated == Alphabet::dna && !flags.loaded_matrix)
    for (const auto& [look, path] : {std::pair(queries, query_path), {targets, target_path}})
      if (look == Alphabet::protein) throw_not_dna(path, "and the scores are those of DNA");
  if (stated != Alphabet::automatic) return stated;
  for (const Alphabet look : {queries, targets})
    if (look != Alphabet::automatic) return look;
  return count_letters(reader.first_queries()).mostly_bases() ? Alphabet::dna : Alphabet::protein;
}

}  // namespace biogpu::app
