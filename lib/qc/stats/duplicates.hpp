#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "lib/qc/options/options.hpp"

namespace biogpu::qc {

// The number that fastp gives a read or a pair: a bit of its table. Reads of one number count as
// duplicates. fastp 0.23 asks several tables and believes the last one alone, so only that one's
// hash is computed; fastp 1 counts a duplicate where all agree.
class DuplicateHash {
 public:
  explicit DuplicateHash(const Options& options);

  int n_tables() const { return static_cast<int>(tables_.size()); }
  int n_bits() const { return n_bits_; }  // of a key
  // The primes of table t by position in the pair; they repeat after period() positions.
  const std::uint32_t* primes(int t) const {
    return tables_[static_cast<std::size_t>(t)].primes.data();
  }
  std::size_t period() const { return period_; }
  // Key of table t; sequence2 is empty for single reads. Both are followed by 64 readable bytes.
  std::uint64_t key(int t, std::string_view sequence1, std::string_view sequence2) const;

 private:
  static constexpr std::size_t kPeriod = 512;  // fastp's primes repeat after so many bases
  struct Table {
    std::vector<std::uint32_t> primes;         // by position in the pair, over a period and 16 more
    std::vector<std::uint64_t> position_sums;  // [p]: of prime times position, up to p
  };
  std::uint64_t sum(const Table& table, std::string_view sequence, std::uint64_t begin) const;
  std::uint64_t position_sum(const Table& table, std::uint64_t begin, std::uint64_t end) const;

  std::vector<Table> tables_;
  std::size_t period_ = kPeriod;
  int n_bits_ = 32;
};

// A set of keys: sparse while they are few, one bit for each possible key once that is smaller.
class KeySet {
 public:
  explicit KeySet(int n_bits);
  ~KeySet();
  KeySet(KeySet&&) noexcept;

  // False when the key was there already.
  bool insert(std::uint64_t key);

 private:
  class Shard;
  std::vector<Shard> shards_;  // by the bits above the 32 low ones
};

// The sum of primes[i] times fastp's value of base i (A 7, T 222, C 74, G 31, others 13) over n
// bases, which are followed by 64 readable bytes. The second is the plain version.
std::uint64_t sum_of_bases(const char* bases, const std::uint32_t* primes, std::size_t n);
std::uint64_t sum_of_bases_ref(const char* bases, const std::uint32_t* primes, std::size_t n);

}  // namespace biogpu::qc
