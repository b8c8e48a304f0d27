#include "lib/kmer/database/jellyfish/jellyfish_file.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "lib/kmer/database/throw_bad_input.hpp"

namespace biogpu::kmer {
namespace {

using FourLetters = std::array<char, 4>;

// The four bases of a byte, the first in its highest pair.
constexpr std::array<FourLetters, 256> make_four_letters() {
  std::array<FourLetters, 256> all{};
  for (std::size_t byte = 0; byte < all.size(); ++byte)
    for (std::size_t i = 0; i < 4; ++i) all[byte][i] = "ACGT"[byte >> (6 - 2 * i) & 3];
  return all;
}
constexpr std::array<FourLetters, 256> kFourLetters = make_four_letters();

void write_letters(const std::uint64_t* key, int k, char* to) {
  const auto n_words = static_cast<std::size_t>(words_for(k));
  const auto bits = [&](std::size_t from_end) {
    return key[n_words - 1 - from_end / kBasesPerWord] >> 2 * (from_end % kBasesPerWord);
  };
  std::size_t from_end = 0;
  char* at = to + k;
  for (; at - to >= 4; from_end += 4) {
    at -= 4;
    std::memcpy(at, kFourLetters[bits(from_end) & 0xff].data(), 4);
  }
  for (; at > to; ++from_end) *--at = "ACGT"[bits(from_end) & 3];
}

std::uint64_t largest_count(int bytes) {
  return bytes >= 8 ? UINT64_MAX : (std::uint64_t{1} << 8 * bytes) - 1;
}

}  // namespace

void append_jellyfish_records(const Header& header, const CountBlock& block, std::string& out) {
  const auto key_bytes = static_cast<std::size_t>(bytes_for(header.k));
  const auto count_bytes = static_cast<std::size_t>(header.counter_bytes);
  const auto n_words = static_cast<std::size_t>(block.n_words);
  const std::uint64_t largest = largest_count(header.counter_bytes);
  const std::size_t begin = out.size();
  const std::size_t n_bytes = block.size() * (key_bytes + count_bytes);
  out.resize(begin + n_bytes + 16);  // whole words are stored
  char* to = out.data() + begin;
  for (std::size_t i = 0; i < block.size(); ++i) {
    const std::uint64_t* key = block.key(i);
    for (std::size_t w = 0; 8 * w < key_bytes; ++w)
      std::memcpy(to + 8 * w, &key[n_words - 1 - w], 8);
    to += key_bytes;
    const std::uint64_t count = std::min(block.counts[i], largest);
    std::memcpy(to, &count, 8);
    to += count_bytes;
  }
  out.resize(begin + n_bytes);
}

void append_letters(const std::uint64_t* key, int k, std::string& out) {
  const std::size_t begin = out.size();
  out.resize(begin + static_cast<std::size_t>(k));
  write_letters(key, k, out.data() + begin);
}

void append_jellyfish_lines(const Header& header, const CountBlock& block, char separator,
                            std::string& out) {
  constexpr std::size_t kMaxDigits = 20;
  const auto n_letters = static_cast<std::size_t>(header.k);
  const std::size_t begin = out.size();
  out.resize(begin + block.size() * (n_letters + kMaxDigits + 2));
  char* to = out.data() + begin;
  for (std::size_t i = 0; i < block.size(); ++i) {
    write_letters(block.key(i), header.k, to);
    to += n_letters;
    *to++ = separator;
    to = std::to_chars(to, to + kMaxDigits, block.counts[i]).ptr;
    *to++ = '\n';
  }
  out.resize(static_cast<std::size_t>(to - out.data()));
}

void parse_jellyfish_records(const Header& header, std::string_view bytes, CountBlock& block) {
  const auto key_bytes = static_cast<std::size_t>(bytes_for(header.k));
  const auto count_bytes = static_cast<std::size_t>(header.counter_bytes);
  const auto n_words = static_cast<std::size_t>(words_for(header.k));
  const std::size_t n = bytes.size() / (key_bytes + count_bytes);
  block.n_words = static_cast<int>(n_words);
  block.keys.reserve(block.keys.size() + n * n_words);
  block.counts.reserve(block.counts.size() + n);
  const char* at = bytes.data();
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t w = n_words; w-- > 0;) {
      std::uint64_t word = 0;
      if (8 * w < key_bytes)
        std::memcpy(&word, at + 8 * w, std::min<std::size_t>(8, key_bytes - 8 * w));
      block.keys.push_back(word);
    }
    at += key_bytes;
    std::uint64_t count = 0;
    std::memcpy(&count, at, count_bytes);
    block.counts.push_back(count);
    at += count_bytes;
  }
}

}  // namespace biogpu::kmer
