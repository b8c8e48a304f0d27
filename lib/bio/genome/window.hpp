#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lib/bio/genome/contig.hpp"
#include "lib/bio/genome/letters.hpp"

namespace biogpu::genome {

// Letters [begin, end) of a contig, from 0; they may lie before its first letter or behind its
// last, where a genome gives kUnknownLetter.
struct Window {
  std::string key;  // names what is computed of it
  std::size_t contig = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;

  std::int64_t size() const { return end - begin; }
  // The letter that resizing keeps in the middle: the right one of two.
  std::int64_t centre() const { return begin + (end - begin) / 2; }
};

// The window of `length` letters whose centre, letter length / 2 of it, is the same. The key stays.
Window resize_centre(Window window, std::int64_t length);

// Same size, further right by `shift` letters.
Window shifted(Window window, std::int64_t shift);

// How a sequence of another length becomes one window.
enum class Fit { exact, centre };

// Cuts or pads with kUnknownLetter on both sides, so that letter size / 2 becomes letter
// length / 2.
std::vector<LetterCode> fit_centre(std::span<const LetterCode> codes, std::size_t length);

// A region in samtools' form, NAME, NAME:FIRST-LAST and so on, as a window with the text as its
// key. Throws Error{usage} for what is no region, or goes on behind its contig.
Window parse_window(const std::string& text, std::span<const Contig> contigs);

}  // namespace biogpu::genome
