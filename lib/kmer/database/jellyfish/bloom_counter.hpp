#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lib/io/input/raw_file.hpp"
#include "lib/io/output_file.hpp"
#include "lib/kmer/database/header.hpp"
#include "lib/kmer/key/key_order.hpp"

namespace biogpu::kmer {

// How often each k-mer was seen: never, once, or more often; sometimes more than is true, never
// less. What `jellyfish bc` makes: counters from 0 to 2, five a byte, and n_hashes of them for a
// k-mer, at h1 + i h2 modulo their number, where h1 and h2 are products of the k-mer with random
// matrices. Facts: Jellyfish's files.
class BloomCounter {
 public:
  // For n_kmers different ones with this rate of wrong answers, above 0 and below 1. Throws
  // Error{usage} where it would have no counters.
  BloomCounter(int k, bool canonical, std::uint64_t n_kmers, double false_positives);
  // Throws Error{bad_input} for a file that is none, Error{failed}.
  static BloomCounter read(const std::string& path);

  int k() const { return k_; }
  bool canonical() const { return canonical_; }

  // 0, 1 or 2 for the key, words_for(k) words.
  int count(const std::uint64_t* key) const;
  // Adds n occurrences. One thread.
  void add(const std::uint64_t* key, std::uint64_t n);

  // The header's format and order are not looked at.
  void write(const Header& header, io::OutputFile& out) const;

 private:
  BloomCounter() = default;
  void read_bytes(io::input::RawFile& file);

  using Tables = std::vector<BitProduct::ByteTable>;
  // visit(index of the byte, weight of the counter in it) for each counter of the key.
  template <class Visit>
  void visit(const std::uint64_t* key, Visit&& each) const;

  int k_ = 0;
  bool canonical_ = false;
  std::uint64_t n_counters_ = 0;
  std::uint64_t n_hashes_ = 0;
  std::array<std::vector<std::uint64_t>, 2> columns_;  // of the matrices, 64 bits each
  std::array<Tables, 2> tables_;                       // the same by bytes of a key
  std::vector<std::uint8_t> bytes_;
};

}  // namespace biogpu::kmer
