#include "lib/tasks/dna/mutations.hpp"

namespace biogpu::tasks {

PieceMutations make_mutations(const genome::IndexedFasta& genome, const RegionPiece& piece,
                              const std::vector<BinTarget>& targets) {
  PieceMutations made;
  made.begin = piece.begin;
  made.letters.resize(static_cast<std::size_t>(piece.end - piece.begin));
  genome.fetch(piece.window.contig, piece.begin, made.letters);
  for (std::int64_t at = piece.begin; at < piece.end; ++at) {
    const genome::LetterCode letter = made.letters[static_cast<std::size_t>(at - piece.begin)];
    if (letter >= genome::kUnknownLetter) continue;
    for (genome::LetterCode other = 0; other < genome::kUnknownLetter; ++other)
      if (other != letter) made.mutations.push_back({at, other});
  }
  made.comparison.targets.assign(made.mutations.size(), targets);
  made.comparison.write_letters = [&genome, window = piece.window, mutations = made.mutations](
                                      std::size_t i, std::int64_t shift,
                                      std::span<genome::LetterCode> letters) {
    const genome::Window moved = genome::shifted(window, shift);
    genome.fetch(moved.contig, moved.begin, letters);
    if (i == 0) return;
    const std::int64_t at = mutations[i - 1].position - moved.begin;
    if (at >= 0 && at < moved.size())
      letters[static_cast<std::size_t>(at)] = mutations[i - 1].letter;
  };
  return made;
}

}  // namespace biogpu::tasks
