#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "lib/io/output_file.hpp"
#include "lib/kmer/database/header.hpp"
#include "lib/kmer/key/count_block.hpp"

namespace biogpu::kmer {

// The format that a file name asks for: ".bgk" native, ".kff" KFF, anything else Jellyfish's.
Format format_of_name(const std::string& path);

// The order in which a format has its records: Jellyfish's for a table of `asked` slots, else
// lexicographic.
KeyOrder order_of_format(Format format, int k, std::uint64_t asked);

// Writes a database. The bytes do not depend on how the records are cut into blocks. The file gets
// its name by commit(); errors as io::OutputFile.
class DatabaseWriter {
 public:
  DatabaseWriter(const std::string& path, const Header& header);
  ~DatabaseWriter();
  DatabaseWriter(DatabaseWriter&&) noexcept;
  DatabaseWriter& operator=(DatabaseWriter&&) noexcept;

  // What of write() can be done by any thread, before: fills bytes, or leaves it empty.
  void prepare(const CountBlock& block, std::string& bytes) const;
  // The next records, in the header's order, and what prepare() made of them.
  void write(const CountBlock& block, const std::string& bytes);
  void write(const CountBlock& block);
  // Whether records may be written at offsets: Jellyfish's binary ones, in a file without
  // compression.
  bool takes_offsets() const;
  // Room for the next n records; returns its offset. One thread at a time, in order.
  std::uint64_t reserve(std::uint64_t n_records);
  // Fills it with what prepare() made of them. Any thread.
  void write_at(std::uint64_t offset, const std::string& bytes);
  // Writes what follows the records: commit() then has only to close and rename.
  void finish();
  void commit();  // calls finish() where that was not done

  std::uint64_t bytes() const;

  class Sink;

 private:
  std::unique_ptr<Sink> sink_;
};

}  // namespace biogpu::kmer
