#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lib/io/sequence_batch.hpp"

namespace biogpu::app {

// Finds the targets that share an exact seed (k-mer) with a query: the pairs that Parasail's
// suffix array lets through. 24 bytes per residue of the targets.
class SeedFilter {
 public:
  // case_sensitive: else letters are the same in either case.
  SeedFilter(std::shared_ptr<const io::SequenceBatch> targets, std::size_t length,
             bool case_sensitive);

  // Appends the targets from index `first` on that share a seed with text, in ascending order. One
  // thread at a time.
  void find(std::string_view text, std::uint32_t first, std::vector<std::uint32_t>& targets);

 private:
  struct Seed {
    std::uint64_t hash;
    std::uint32_t target;
    std::uint64_t position;
  };
  // Calls function(hash, position) for each seed of the text, folded in place.
  template <class Function>
  void for_each_seed(std::string_view folded, Function&& function) const;
  std::string fold(std::string_view text) const;

  std::shared_ptr<const io::SequenceBatch> targets_;
  std::size_t length_;
  bool case_sensitive_;
  std::vector<Seed> seeds_;  // by hash, then target
  std::vector<bool> found_;  // per target, cleared between queries
};

}  // namespace biogpu::app
