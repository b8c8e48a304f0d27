#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "lib/align/align.hpp"

namespace biogpu::align::test {

// Owns what a Work borrows. Sequences are kept as text too, for oracles that take text.
class Pairs {
 public:
  explicit Pairs(const Scoring& scoring) : scoring_(scoring) {}

  void add(std::string_view query, std::string_view target) {
    add_pair(add_query(query), add_target(target));
  }
  std::uint32_t add_query(std::string_view text) { return append(queries_, text); }
  std::uint32_t add_target(std::string_view text) { return append(targets_, text); }
  void add_pair(std::uint32_t query, std::uint32_t target) { pairs_.push_back({query, target}); }

  Work work() const { return {queries_.view(), targets_.view(), pairs_}; }
  std::size_t size() const { return pairs_.size(); }
  const std::string& query(std::size_t i) const { return queries_.texts[pairs_[i].query]; }
  const std::string& target(std::size_t i) const { return targets_.texts[pairs_[i].target]; }
  const Pair& pair(std::size_t i) const { return pairs_[i]; }

 private:
  struct Set {
    std::vector<std::string> texts;
    std::vector<std::uint8_t> residues;
    std::vector<std::uint64_t> begin{0};
    SequenceSet view() const { return {residues, begin}; }
  };
  std::uint32_t append(Set& set, std::string_view text) {
    for (const char c : text)
      set.residues.push_back(scoring_.class_of[static_cast<unsigned char>(c)]);
    set.begin.push_back(set.residues.size());
    set.texts.emplace_back(text);
    return static_cast<std::uint32_t>(set.texts.size() - 1);
  }

  Scoring scoring_;
  Set queries_, targets_;
  std::vector<Pair> pairs_;
};

inline std::string random_text(std::mt19937& random, std::string_view letters, std::size_t length) {
  std::string text(length, ' ');
  for (char& c : text) c = letters[random() % letters.size()];
  return text;
}

// A copy with about `percent` of its residues substituted, deleted or doubled.
inline std::string mutate(std::mt19937& random, std::string_view letters, std::string_view text,
                          unsigned percent) {
  std::string copy;
  for (const char c : text) {
    if (random() % 100 >= percent) {
      copy += c;
      continue;
    }
    switch (random() % 4) {
      case 0:
        break;
      case 1:
        copy += c;
        copy += random_text(random, letters, 1 + random() % 6);
        break;
      default:
        copy += letters[random() % letters.size()];
    }
  }
  return copy;
}

inline constexpr std::string_view kDna = "ACGT";
inline constexpr std::string_view kProtein = "ARNDCQEGHILKMFPSTWYV";

// Half of the pairs unrelated, half mutated copies; lengths min_length .. max_length.
inline Pairs random_pairs(const Scoring& scoring, std::string_view letters, std::size_t n,
                          std::size_t min_length, std::size_t max_length, unsigned seed) {
  std::mt19937 random(seed);
  Pairs pairs(scoring);
  const auto length = [&] { return min_length + random() % (max_length - min_length + 1); };
  for (std::size_t i = 0; i < n; ++i) {
    const std::string query = random_text(random, letters, length());
    std::string target = random() % 2 ? random_text(random, letters, length())
                                      : mutate(random, letters, query, random() % 30);
    if (target.size() < min_length) target = query;
    if (random() % 4 == 0 && target.size() > 20) target = target.substr(target.size() / 3);
    pairs.add(query, target);
  }
  return pairs;
}

}  // namespace biogpu::align::test
