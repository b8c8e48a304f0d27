#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "lib/kmer/database/header.hpp"
#include "lib/kmer/key/count_block.hpp"

namespace biogpu::kmer {

// Reads a database of any known format from beginning to end; the format is told by content. "-" is
// standard input. Keys come in the order of the header.
// Errors: Error{bad_input} names the file and what is wrong with it; Error{failed} as RawFile.
class DatabaseReader {
 public:
  explicit DatabaseReader(const std::string& path);
  ~DatabaseReader();
  DatabaseReader(DatabaseReader&&) noexcept;
  DatabaseReader& operator=(DatabaseReader&&) noexcept;

  const Header& header() const;
  const std::string& path() const;

  // Replaces the block by the next records. False, with an empty block, at the end.
  bool read(CountBlock& block);

  class Source;

 private:
  std::unique_ptr<Source> source_;
};

}  // namespace biogpu::kmer
