#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "lib/bwt/text/packed_text.hpp"

namespace biogpu::test {

// Letters of the alphabet drawn evenly.
inline std::string random_text(std::uint64_t seed, std::size_t n, std::string_view letters) {
  std::mt19937_64 random(seed);
  std::string text(n, ' ');
  for (char& c : text) c = letters[random() % letters.size()];
  return text;
}

inline std::string repeated(std::string_view unit, std::size_t n) {
  std::string text;
  while (text.size() < n) text += unit;
  text.resize(n);
  return text;
}

// The Fibonacci word: as repetitive as a text without a period can be.
inline std::string fibonacci_text(std::size_t n) {
  std::string a = "A";
  std::string b = "AC";
  while (b.size() < n) {
    std::string next = b + a;
    a = std::move(b);
    b = std::move(next);
  }
  b.resize(n);
  return b;
}

// Texts that sorters find hard, each of about n letters, with a name to show.
inline std::vector<std::pair<std::string, std::string>> hard_texts(std::size_t n) {
  std::string one_change = repeated("A", n);
  one_change[n / 3] = 'C';
  const std::string half = random_text(5, n / 2, "ACGT");
  return {{"one letter", repeated("A", n)},
          {"the greatest letter", repeated("T", n)},
          {"one change", one_change},
          {"Fibonacci", fibonacci_text(n)},
          {"tandem repeat", repeated("ACGTTGCA"
                                     "TTAGGG"
                                     "CAT",
                                     n)},
          {"twice the same", half + half},
          {"two letters", random_text(6, n, "AC")}};
}

// ACGT (any other letter as A) in two bits each.
inline bwt::PackedText pack_bases(std::string_view text) {
  bwt::PackedText packed(text.size(), 2);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto symbol = std::string_view("ACGT").find(text[i]);
    packed.set(i, symbol == std::string_view::npos ? 0 : static_cast<unsigned>(symbol));
  }
  return packed;
}

// Strings over ACGT, symbols 1, 2, 3, 4, each closed by a 0.
struct StringSet {
  bwt::PackedText text;
  std::vector<std::uint64_t> ends;
};

inline StringSet pack_set(const std::vector<std::string>& strings, int bits) {
  StringSet set;
  std::string all;
  for (const std::string& string : strings) {
    all += string;
    set.ends.push_back(all.size());
    all += '$';
  }
  set.text = bwt::PackedText(all.size(), bits);
  for (std::size_t i = 0; i < all.size(); ++i)
    set.text.set(i, static_cast<unsigned>(std::string_view("$ACGT").find(all[i])));
  return set;
}

// n strings of `length` letters, drawn from n_kinds.
inline std::vector<std::string> drawn_strings(std::size_t n, std::size_t length,
                                              std::size_t n_kinds) {
  std::mt19937_64 random(n_kinds);
  std::vector<std::string> strings;
  for (std::size_t i = 0; i < n; ++i)
    strings.push_back(i < n_kinds ? random_text(random(), length, "ACGT")
                                  : strings[random() % n_kinds]);
  return strings;
}

}  // namespace biogpu::test
