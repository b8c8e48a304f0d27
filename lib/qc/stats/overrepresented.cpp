#include "lib/qc/stats/overrepresented.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

namespace biogpu::qc {
namespace {

// A rolling hash: sums of letters times powers of an odd number, modulo 2^64. Equal hashes are
// followed by a comparison, so that only the time depends on its quality.
constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15;

std::uint64_t append(std::uint64_t hash, char letter) {
  return hash * kFactor + static_cast<unsigned char>(letter);
}

std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0;
  for (const char letter : text) hash = append(hash, letter);
  return hash;
}

std::uint64_t power(int n) {
  std::uint64_t result = 1;
  for (int i = 0; i < n; ++i) result *= kFactor;
  return result;
}

std::size_t slot_of(std::uint64_t hash, std::size_t n_slots) {
  return static_cast<std::size_t>((hash ^ hash >> 29) * kFactor >> 20) & (n_slots - 1);
}

std::uint64_t min_count(int length, int n_cycles) {
  if (length >= n_cycles - 1) return 3;
  if (length >= 100) return 5;
  if (length >= 40) return 20;
  if (length >= 20) return 100;
  return length >= 10 ? 500 : UINT64_MAX;
}

struct Counted {
  std::uint64_t hash = 0;
  const char* text = nullptr;  // nullptr: a free slot
  std::uint64_t count = 0;
};

// How often each sequence of this length occurs at positions 0 .. length of read - length - 1.
void count_all(const ReadSample& reads, int length, std::vector<Counted>& table) {
  const auto n = static_cast<std::size_t>(length);
  std::size_t n_windows = 0;
  for (std::size_t r = 0; r < reads.size(); ++r)
    n_windows += reads[r].size() > n ? reads[r].size() - n : 0;
  table.assign(std::bit_ceil(2 * n_windows + 2), {});
  const std::uint64_t drop = power(length);
  for (std::size_t r = 0; r < reads.size(); ++r) {
    const std::string_view read = reads[r];
    if (read.size() <= n) continue;
    std::uint64_t hash = hash_of(read.substr(0, n));
    for (std::size_t i = 0; i + n < read.size(); ++i) {
      std::size_t at = slot_of(hash, table.size());
      while (table[at].text != nullptr &&
             (table[at].hash != hash || std::string_view(table[at].text, n) != read.substr(i, n)))
        at = (at + 1) & (table.size() - 1);
      if (table[at].text == nullptr) table[at] = {hash, read.data() + i, 0};
      ++table[at].count;
      hash = append(hash, read[i + n]) - static_cast<unsigned char>(read[i]) * drop;
    }
  }
}

}  // namespace

std::vector<int> overrepresented_lengths(int n_cycles) {
  std::vector<int> lengths{10, 20, 40, 100};
  if (n_cycles > 2) lengths.push_back(std::min(150, n_cycles - 2));
  return lengths;
}

std::vector<std::string> overrepresented_candidates(const ReadSample& reads, int n_cycles) {
  std::map<std::string, std::uint64_t> frequent;
  std::vector<Counted> table;
  for (const int length : overrepresented_lengths(n_cycles)) {
    count_all(reads, length, table);
    const std::vector<int> all = overrepresented_lengths(n_cycles);
    const auto times = static_cast<std::uint64_t>(std::count(all.begin(), all.end(), length));
    for (const Counted& entry : table)
      if (entry.text != nullptr && entry.count * times >= min_count(length, n_cycles))
        frequent[std::string(entry.text, static_cast<std::size_t>(length))] = entry.count * times;
  }
  for (auto it = frequent.begin(); it != frequent.end();) {
    const bool contained = std::any_of(frequent.begin(), frequent.end(), [&](const auto& other) {
      return other.first.size() > it->first.size() && it->second / other.second < 10 &&
             other.first.find(it->first) != std::string::npos;
    });
    it = contained ? frequent.erase(it) : std::next(it);
  }
  std::vector<std::string> candidates;
  candidates.reserve(frequent.size());
  for (const auto& [sequence, count] : frequent) candidates.push_back(sequence);
  return candidates;
}

OverrepresentedCounter::OverrepresentedCounter(std::vector<std::string> candidates, int n_cycles)
    : candidates_(std::move(candidates)) {
  for (const std::string& candidate : candidates_) hashes_.push_back(hash_of(candidate));
  for (const int n : overrepresented_lengths(n_cycles)) {
    Length length{n, power(n), {}};
    std::size_t n_of_length = 0;
    for (const std::string& candidate : candidates_)
      n_of_length += candidate.size() == static_cast<std::size_t>(n);
    if (n_of_length == 0) continue;
    length.slots.resize(std::bit_ceil(4 * n_of_length));
    for (std::size_t c = 0; c < candidates_.size(); ++c) {
      if (candidates_[c].size() != static_cast<std::size_t>(n)) continue;
      std::size_t at = slot_of(hashes_[c], length.slots.size());
      while (length.slots[at] != 0) at = (at + 1) & (length.slots.size() - 1);
      length.slots[at] = static_cast<std::uint32_t>(c + 1);
    }
    lengths_.push_back(std::move(length));
  }
}

void OverrepresentedCounter::count(std::string_view read,
                                   std::vector<std::uint64_t>& counts) const {
  for (const Length& length : lengths_) {
    const auto n = static_cast<std::size_t>(length.length);
    if (read.size() <= n) continue;
    std::uint64_t hash = hash_of(read.substr(0, n));
    std::size_t next = 0;  // windows before it overlap the last one counted
    for (std::size_t i = 0; i + n < read.size(); ++i) {
      if (i >= next)
        for (std::size_t at = slot_of(hash, length.slots.size()); length.slots[at] != 0;
             at = (at + 1) & (length.slots.size() - 1)) {
          const std::size_t c = length.slots[at] - 1;
          if (hashes_[c] != hash || candidates_[c] != read.substr(i, n)) continue;
          ++counts[c];
          next = i + n + 1;
          break;
        }
      hash = append(hash, read[i + n]) - static_cast<unsigned char>(read[i]) * length.drop;
    }
  }
}

bool is_overrepresented(const std::string& sequence, std::uint64_t count, int sampling) {
  const std::uint64_t n = count * static_cast<std::uint64_t>(sampling);
  switch (sequence.size()) {
    case 10:
      return n > 500;
    case 20:
      return n > 200;
    case 40:
      return n > 100;
    case 100:
      return n > 50;
    default:
      return n > 20;
  }
}

}  // namespace biogpu::qc
