#include "apps/biogpu/align/options/alphabet.hpp"

#include <fmt/format.h>

#include <string_view>

#include "apps/biogpu/align/input/letter_counts.hpp"
#include "apps/biogpu/align/options/scoring.hpp"
#include "lib/core/error.hpp"

namespace biogpu::app {
namespace {

// Letters that are enough to decide.
constexpr std::uint64_t kMaxLetters = 1u << 16;
constexpr std::uint64_t kMinOfProtein = 10;

LetterCounts count_letters(const io::SequenceBatch& batch) {
  LetterCounts counts;
  for (std::size_t i = 0; i < batch.size() && counts.all < kMaxLetters; ++i)
    counts.add(batch.sequence(i).substr(0, kMaxLetters));
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
  if (counts.look_like_dna()) return Alphabet::dna;
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
