#include "apps/biogpu-bench/align_inputs.hpp"

#include <array>
#include <cmath>
#include <random>

#include "lib/io/output_file.hpp"
#include "lib/io/sequence_reader.hpp"

namespace biogpu::bench {
namespace {

constexpr std::array<std::size_t, 20> kStandardQueries = {144,  189,  222,  375,  464,  567,  657,
                                                          729,  850,  1000, 1500, 2005, 2504, 3005,
                                                          3564, 4061, 4548, 4743, 5147, 5478};

// xorshift64*: S. Vigna, doi:10.1145/2845077. Much faster than the standard engines.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 2 + 1) {}
  std::uint32_t next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return static_cast<std::uint32_t>(state_ * 2685821657736338717ull >> 32);
  }
  std::uint32_t below(std::uint32_t n) {
    return static_cast<std::uint32_t>(std::uint64_t{next()} * n >> 32);
  }

 private:
  std::uint64_t state_;
};

void add_random(std::vector<std::uint8_t>& to, Random& random, std::size_t length,
                std::uint32_t n_classes) {
  for (std::size_t i = 0; i < length; ++i)
    to.push_back(static_cast<std::uint8_t>(random.below(n_classes)));
}

void add_pair(PairSet& set, Random& random, std::size_t length, int every) {
  const auto number = static_cast<std::uint32_t>(set.pairs.size());
  const std::size_t from = set.query_residues.size();
  add_random(set.query_residues, random, length, 4);
  const std::size_t to = set.target_residues.size();
  const auto events = static_cast<std::uint32_t>(3 * every);
  for (std::size_t i = 0; i < length && set.target_residues.size() < to + length; ++i) {
    const std::uint32_t event = random.below(events);
    const auto other = static_cast<std::uint8_t>(random.below(4));
    if (event != 1)
      set.target_residues.push_back(event == 0 ? other : set.query_residues[from + i]);
    if (event == 2) set.target_residues.push_back(other);
  }
  set.target_residues.resize(std::min(set.target_residues.size(), to + length));
  add_random(set.target_residues, random, to + length - set.target_residues.size(), 4);
  set.query_begin.push_back(set.query_residues.size());
  set.target_begin.push_back(set.target_residues.size());
  set.pairs.push_back({number, number});
}

PairSet standard_queries(Random& random, bool few) {
  PairSet set;
  for (std::size_t i = 0; i < (few ? 3 : kStandardQueries.size()); ++i) {
    add_random(set.query_residues, random, kStandardQueries[i], 20);
    set.query_begin.push_back(set.query_residues.size());
  }
  return set;
}

void read_into(std::vector<std::uint8_t>& residues, std::vector<std::uint64_t>& begin,
               const std::string& path, const align::Scoring& scoring) {
  io::SequenceReader reader(path);
  io::SequenceBatch batch;
  while (reader.read(batch)) {
    for (std::size_t i = 0; i < batch.size(); ++i) {
      for (const char c : batch.sequence(i))
        residues.push_back(scoring.class_of[static_cast<unsigned char>(c)]);
      begin.push_back(residues.size());
    }
  }
}

}  // namespace

PairSet mutated_pairs(std::size_t n, std::size_t length, int every) {
  Random random(1);
  PairSet set;
  set.query_residues.reserve(n * length);
  set.target_residues.reserve(n * (length + 1));
  for (std::size_t i = 0; i < n; ++i) add_pair(set, random, length, every);
  return set;
}

void write_letters(const PairSet& pairs, const std::string& path) {
  io::OutputFile file(path);
  std::string line;
  const auto add = [&](std::span<const std::uint8_t> classes) {
    for (const std::uint8_t c : classes) line += "ACGT"[c];
  };
  for (const align::Pair& pair : pairs.pairs) {
    line.clear();
    add(pairs.queries().sequence(pair.query));
    line += '\t';
    add(pairs.targets().sequence(pair.target));
    line += '\n';
    file.write(line);
  }
  file.commit();
}

PairSet unequal_pairs(std::size_t n, std::size_t shortest, std::size_t longest, int every) {
  Random random(2);
  PairSet set;
  const double span = std::log(static_cast<double>(longest) / static_cast<double>(shortest));
  for (std::size_t i = 0; i < n; ++i) {
    const double x = random.next() / 4294967296.0;
    const auto length =
        static_cast<std::size_t>(static_cast<double>(shortest) * std::exp(x * span));
    add_pair(set, random, length, every);
  }
  return set;
}

PairSet protein_sets(std::size_t n_targets, std::size_t length, bool few_queries) {
  Random random(3);
  PairSet set = standard_queries(random, few_queries);
  set.target_residues.reserve(n_targets * length);
  for (std::size_t i = 0; i < n_targets; ++i) {
    add_random(set.target_residues, random, length, 20);
    set.target_begin.push_back(set.target_residues.size());
  }
  return set;
}

PairSet unequal_protein_sets(std::size_t n_targets, bool few_queries) {
  constexpr double kMedian = 294, kSpread = 0.65, kTurn = 6.283185307179586;
  Random random(4);
  PairSet set = standard_queries(random, few_queries);
  for (std::size_t i = 0; i < n_targets; ++i) {
    // G. E. P. Box and M. E. Muller, doi:10.1214/aoms/1177706645.
    const double radius = std::sqrt(-2 * std::log((random.next() + 1.0) / 4294967296.0));
    const double normal = radius * std::cos(kTurn * random.next() / 4294967296.0);
    add_random(set.target_residues, random,
               static_cast<std::size_t>(kMedian * std::exp(kSpread * normal)), 20);
    set.target_begin.push_back(set.target_residues.size());
  }
  return set;
}

PairSet read_protein_sets(const std::string& queries, const std::string& targets,
                          const align::Scoring& scoring) {
  PairSet set;
  read_into(set.query_residues, set.query_begin, queries, scoring);
  read_into(set.target_residues, set.target_begin, targets, scoring);
  return set;
}

}  // namespace biogpu::bench
