#include "lib/qc/stats/duplicates.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <new>
#include <utility>

namespace biogpu::qc {
namespace {

struct Level {
  int n_tables;
  int n_bits;  // log2 of the bits of each
};

// By --dup_calc_accuracy, 1 to 6.
constexpr std::array<Level, 6> kLevels = {{{2, 32}, {2, 33}, {4, 33}, {4, 34}, {4, 35}, {6, 35}}};
constexpr int kTablesOfLevel6InFastp1 = 8;

// fastp's: the first prime above 10,000, then each the first one above the last plus 10,000.
std::vector<std::uint32_t> make_primes(std::size_t n) {
  const auto is_prime = [](std::uint32_t number) {
    for (std::uint32_t i = 2; i * i <= number; ++i)
      if (number % i == 0) return false;
    return true;
  };
  std::vector<std::uint32_t> primes;
  for (std::uint32_t number = 10000; primes.size() < n;) {
    ++number;
    if (!is_prime(number)) continue;
    primes.push_back(number);
    number += 10000;
  }
  return primes;
}

// Positions whose sums are kept; longer pairs are added up.
constexpr std::uint64_t kPositions = 2048;
constexpr std::size_t kVector = 16;

}  // namespace

DuplicateHash::DuplicateHash(const Options& options) {
  Level level = kLevels[static_cast<std::size_t>(options.duplicate_level - 1)];
  const bool all_tables = options.profile == Profile::fastp_1;
  if (all_tables && options.duplicate_level == 6) level.n_tables = kTablesOfLevel6InFastp1;
  n_bits_ = level.n_bits;
  const auto n_tables = static_cast<std::size_t>(level.n_tables);
  const std::vector<std::uint32_t> primes = make_primes(kPeriod * n_tables);
  // Position p of table t takes prime (p * n_tables + t) & mask. For a number of tables that is no
  // power of two the mask has holes and the sequence another period.
  const std::size_t mask = kPeriod * n_tables - 1;
  period_ = (n_tables & (n_tables - 1)) == 0 ? kPeriod : 4 * kPeriod;
  for (std::size_t t = all_tables ? 0 : n_tables - 1; t < n_tables; ++t) {
    Table table;
    for (std::size_t p = 0; p < period_ + kVector; ++p)
      table.primes.push_back(primes[(p * n_tables + t) & mask]);
    table.position_sums.push_back(0);
    for (std::uint64_t p = 0; p < kPositions; ++p)
      table.position_sums.push_back(table.position_sums[p] + table.primes[p & (period_ - 1)] * p);
    tables_.push_back(std::move(table));
  }
}

std::uint64_t DuplicateHash::position_sum(const Table& table, std::uint64_t begin,
                                          std::uint64_t end) const {
  if (end <= kPositions) return table.position_sums[end] - table.position_sums[begin];
  std::uint64_t total = 0;
  for (std::uint64_t p = begin; p < end; ++p) total += table.primes[p & (period_ - 1)] * p;
  return total;
}

std::uint64_t DuplicateHash::sum(const Table& table, std::string_view sequence,
                                 std::uint64_t begin) const {
  std::uint64_t total = position_sum(table, begin, begin + sequence.size());
  for (std::size_t i = 0; i < sequence.size();) {
    const std::size_t first = (begin + i) & (period_ - 1);
    const std::size_t n = std::min(sequence.size() - i, period_ - first);
    total += sum_of_bases(sequence.data() + i, table.primes.data() + first, n);
    i += n;
  }
  return total;
}

std::uint64_t DuplicateHash::key(int t, std::string_view sequence1,
                                 std::string_view sequence2) const {
  const Table& table = tables_[static_cast<std::size_t>(t)];
  const std::uint64_t hash = sum(table, sequence1, 0) + sum(table, sequence2, sequence1.size());
  return hash & ((std::uint64_t{1} << n_bits_) - 1);
}

// 32-bit keys, open addressing; slots hold key and a one-byte mark would double them, so that key 0
// is kept apart.
class KeySet::Shard {
 public:
  bool insert(std::uint32_t key) {
    if (bits_) return insert_bit(key);
    if (key == 0) return !std::exchange(has_zero_, true);
    if (2 * (n_ + 1) > slots_.size()) grow();
    if (bits_) return insert_bit(key);
    return insert_slot(key);
  }

 private:
  static constexpr std::size_t kFirstSlots = 1u << 12;
  static constexpr std::size_t kMaxSlots = 1u << 26;  // 256 MiB; the bits take 512
  static constexpr std::size_t kBitmapBytes = std::size_t{1} << 29;

  struct Unmap {
    void operator()(std::uint8_t* bytes) const { munmap(bytes, kBitmapBytes); }
  };

  bool insert_slot(std::uint32_t key) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = (key * std::uint64_t{0x9E3779B97F4A7C15} >> 32) & mask;
    for (; slots_[at] != 0; at = (at + 1) & mask)
      if (slots_[at] == key) return false;
    slots_[at] = key;
    ++n_;
    return true;
  }

  bool insert_bit(std::uint32_t key) {
    std::uint8_t& byte = bits_.get()[key >> 3];
    const auto bit = static_cast<std::uint8_t>(1u << (key & 7));
    const bool fresh = (byte & bit) == 0;
    byte |= bit;
    return fresh;
  }

  void grow() {
    std::vector<std::uint32_t> old = std::move(slots_);
    if (old.size() == kMaxSlots) {
      // Pages that are never touched take no memory.
      void* bytes = mmap(nullptr, kBitmapBytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (bytes == MAP_FAILED) throw std::bad_alloc();
      bits_.reset(static_cast<std::uint8_t*>(bytes));
      for (const std::uint32_t key : old)
        if (key != 0) insert_bit(key);
      if (has_zero_) insert_bit(0);
      return;
    }
    slots_.assign(old.empty() ? kFirstSlots : 2 * old.size(), 0);
    n_ = 0;
    for (const std::uint32_t key : old)
      if (key != 0) insert_slot(key);
  }

  std::vector<std::uint32_t> slots_;  // 0: free
  std::size_t n_ = 0;
  bool has_zero_ = false;
  std::unique_ptr<std::uint8_t, Unmap> bits_;
};

KeySet::KeySet(int n_bits) : shards_(std::size_t{1} << (n_bits > 32 ? n_bits - 32 : 0)) {}
KeySet::~KeySet() = default;
KeySet::KeySet(KeySet&&) noexcept = default;

bool KeySet::insert(std::uint64_t key) {
  return shards_[static_cast<std::size_t>(key >> 32)].insert(static_cast<std::uint32_t>(key));
}

}  // namespace biogpu::qc
