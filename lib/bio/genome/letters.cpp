#include "lib/bio/genome/letters.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace biogpu::genome {
namespace {

constexpr std::string_view kUnambiguous = "ACGT";
constexpr std::string_view kAmbiguous = "NRYSWKMBDHV";

constexpr std::array<LetterCode, 256> make_code_table() {
  std::array<LetterCode, 256> table{};
  for (LetterCode& code : table) code = kNoLetter;
  const auto set = [&table](char upper, LetterCode code) {
    table[static_cast<unsigned char>(upper)] = code;
    table[static_cast<unsigned char>(upper - 'A' + 'a')] = code;
  };
  for (std::size_t i = 0; i < kUnambiguous.size(); ++i)
    set(kUnambiguous[i], static_cast<LetterCode>(i));
  for (const char letter : kAmbiguous) set(letter, kUnknownLetter);
  return table;
}

constexpr std::array<LetterCode, 256> kCodeTable = make_code_table();

}  // namespace

bool may_stand_for(char genome, char letter) {
  // The bases of ambiguity codes.
  constexpr std::pair<char, std::string_view> kBases[] = {
      {'R', "AG"}, {'Y', "CT"},  {'S', "CG"},  {'W', "AT"},  {'K', "GT"},
      {'M', "AC"}, {'B', "CGT"}, {'D', "AGT"}, {'H', "ACT"}, {'V', "ACG"}};
  const auto upper = [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  };
  genome = upper(genome);
  letter = upper(letter);
  if (genome == letter || genome == 'N') return true;
  for (const auto& [ambiguous, bases] : kBases)
    if (ambiguous == genome) return letter == 'N' || bases.find(letter) != bases.npos;
  return false;
}

LetterCode letter_code(char letter) { return kCodeTable[static_cast<unsigned char>(letter)]; }

std::size_t encode_letters(std::string_view text, LetterCode* codes) {
  LetterCode all = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    codes[i] = letter_code(text[i]);
    all |= codes[i];
  }
  if (all != kNoLetter) return text.size();  // no code of a letter has the upper bits
  return static_cast<std::size_t>(std::find(codes, codes + text.size(), kNoLetter) - codes);
}

std::string decode_letters(std::span<const LetterCode> codes) {
  std::string text(codes.size(), 'N');
  for (std::size_t i = 0; i < codes.size(); ++i)
    if (codes[i] < kUnknownLetter) text[i] = kUnambiguous[codes[i]];
  return text;
}

void reverse_complement(std::span<LetterCode> codes) {
  std::reverse(codes.begin(), codes.end());
  for (LetterCode& code : codes) code = complement(code);
}

}  // namespace biogpu::genome
