#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "lib/kmer/database/header.hpp"

namespace biogpu::kmer {

// Random look-ups in a database that stays where it lies: the file is mapped, and a look-up touches
// a few of its pages. Any thread.
class Lookup {
 public:
  // Throws Error{bad_input} for a file that is no database or whose format has no fixed order
  // (text).
  static std::unique_ptr<Lookup> open(const std::string& path);
  virtual ~Lookup() = default;

  const Header& header() const { return header_; }
  virtual std::uint64_t n_keys() const = 0;

  // counts[i] of the key at keys + i * words_for(k), 0 where it is absent. Keys are looked up as
  // they are: the caller makes them canonical.
  virtual void find(const std::uint64_t* keys, std::span<std::uint64_t> counts) const = 0;

 protected:
  Header header_;
};

}  // namespace biogpu::kmer
