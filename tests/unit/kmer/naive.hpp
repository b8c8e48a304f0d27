#pragma once

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "lib/kmer/count/counter.hpp"
#include "lib/kmer/database/jellyfish/jellyfish_file.hpp"

namespace biogpu::test {

// Counts as plainly as it can be done: substrings in a map.
using NaiveCounts = std::map<std::string, std::uint64_t>;

inline std::string reverse_complement_text(const std::string& text) {
  std::string out(text.rbegin(), text.rend());
  for (char& c : out) c = c == 'A' ? 'T' : c == 'C' ? 'G' : c == 'G' ? 'C' : 'A';
  return out;
}

inline void count_naively(std::string sequence, int k, bool canonical, NaiveCounts& counts) {
  for (char& c : sequence) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  for (std::size_t i = 0; i + static_cast<std::size_t>(k) <= sequence.size(); ++i) {
    std::string kmer = sequence.substr(i, static_cast<std::size_t>(k));
    if (kmer.find_first_not_of("ACGT") != std::string::npos) continue;
    if (canonical) kmer = std::min(kmer, reverse_complement_text(kmer));
    ++counts[kmer];
  }
}

inline std::string random_letters(std::mt19937& rng, std::size_t n, const std::string& letters) {
  std::string text(n, 'A');
  for (char& c : text) c = letters[rng() % letters.size()];
  return text;
}

// Sequences that meet every special case: repeats, N, lower case, other codes, all short lengths.
inline std::vector<std::string> tricky_sequences(unsigned seed, std::size_t longest) {
  std::mt19937 rng(seed);
  std::vector<std::string> all{"", "A", std::string(longest, 'a'), std::string(300, 'N')};
  const std::string genome = random_letters(rng, longest, "ACGT");
  all.push_back(genome);
  all.push_back(reverse_complement_text(genome));
  for (std::size_t n = 0; n < 300; n += 7) all.push_back(random_letters(rng, n, "ACGTacgt"));
  for (int i = 0; i < 40; ++i)
    all.push_back(random_letters(rng, 1 + rng() % 600, "ACGTACGTACGTACGTACGTACGTACGTacgtNRU-"));
  for (int i = 0; i < 40; ++i) all.push_back(genome.substr(rng() % (longest / 2), 150));
  std::string tandem;
  while (tandem.size() < 500) tandem += "ACGT";
  all.push_back(tandem);
  return all;
}

// Adds sequences to a counter as one feed.
inline void add_all(kmer::Counter& counter, const std::vector<std::string>& sequences) {
  counter.add([&](const kmer::AddSequence& add) {
    for (const std::string& sequence : sequences) add(sequence, {});
  });
}

// Everything a finished counter holds, in its order, as text.
inline std::vector<std::pair<std::string, std::uint64_t>> all_of(kmer::Counter& counter, int k) {
  std::vector<std::pair<std::string, std::uint64_t>> all;
  for (kmer::Counter::Bucket bucket; counter.next(bucket);) {
    counter.fetch(bucket);
    for (std::size_t i = 0; i < bucket.counts.size(); ++i) {
      std::string letters;
      kmer::append_letters(bucket.counts.key(i), k, letters);
      all.emplace_back(letters, bucket.counts.counts[i]);
    }
  }
  return all;
}

}  // namespace biogpu::test
