#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lib/kmer/database/header.hpp"
#include "lib/kmer/key/count_block.hpp"

namespace biogpu::kmer {

struct CombineOptions {
  int n_threads = 1;
  std::uint64_t max_memory = 0;  // bytes, for databases in another order; 0: no bound
  std::string tmp_dir = "/tmp";
};

// Databases read side by side: each k-mer of any of them once, in one order. A database in another
// order is brought into it first, so that any files of one k can be combined.
class Combiner {
 public:
  // The order of the result, from the first file's header, whose own order it is where empty.
  using ChooseOrder = std::function<KeyOrder(const Header& first)>;
  // Opens each file once, so that any may be a pipe. Throws Error{bad_input} for files that differ
  // in k or in being canonical.
  Combiner(const std::vector<std::string>& paths, const ChooseOrder& choose_order,
           const CombineOptions& options);
  ~Combiner();
  Combiner(Combiner&&) noexcept;
  Combiner& operator=(Combiner&&) noexcept;

  // Of the first file, with the order of the result.
  const Header& header() const;

  // Whether all files are Jellyfish's text.
  bool all_text() const;

  // Of one k-mer in each file: its count, 0 where it is absent, and whether it is there, which it
  // may be with a count of 0.
  struct Counts {
    std::span<const std::uint64_t> counts;
    std::span<const bool> present;
  };

  // Replaces the block by the next k-mers that are kept. combine(counts) returns the count of the
  // result, nothing to drop the k-mer. False, with an empty block, at the end.
  using Combine = std::function<std::optional<std::uint64_t>(const Counts& of)>;
  bool read(CountBlock& block, const Combine& combine);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace biogpu::kmer
