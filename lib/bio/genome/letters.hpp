#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace biogpu::genome {

// DNA letters as models take them: A, C, G, T are 0 to 3, in either case. N and the other IUPAC
// letters of ambiguity (R Y S W K M B D H V) are kUnknownLetter, which one-hot input gives as four
// zeros. U, gaps and everything else are no letters of DNA.
using LetterCode = std::uint8_t;
inline constexpr LetterCode kUnknownLetter = 4;
inline constexpr LetterCode kNoLetter = 255;

LetterCode letter_code(char letter);

// Whether a letter of a genome may be `letter`, in either case: N stands for every letter, another
// letter of ambiguity for those of its bases, itself and N, and a base for itself.
bool may_stand_for(char genome, char letter);

// Writes the codes of a text and returns the position of its first character that is no letter, or
// text.size() where all are. codes has room for all of the text.
std::size_t encode_letters(std::string_view text, LetterCode* codes);

// "ACGTN", for output and errors.
std::string decode_letters(std::span<const LetterCode> codes);

// The complement of a code; that of kUnknownLetter is itself.
inline LetterCode complement(LetterCode code) {
  return code < kUnknownLetter ? static_cast<LetterCode>(3 - code) : code;
}

// Turns a window into that of the other strand.
void reverse_complement(std::span<LetterCode> codes);

// What errors about letters end with.
inline constexpr std::string_view kExpectedLetters =
    "expected A, C, G, T, N or another IUPAC letter of DNA";

}  // namespace biogpu::genome
