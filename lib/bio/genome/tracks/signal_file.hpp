#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "lib/bio/genome/tracks/signal.hpp"

namespace biogpu::genome {

// Whether a path's suffix is that of a file of signals: .bw, .bigwig, .bedgraph, .bdg, the last two
// also with .gz.
bool is_signal_path(const std::string& path);

// A signal as bigWig or bedGraph, by the suffix of its path ("-" is bedGraph on standard output).
// The file gets its name by commit() only. bedGraph has the shortest text that reads back as the
// same number. Errors: those of OutputFile and write_bigwig(), and Signal::sorted().
class SignalFile {
 public:
  explicit SignalFile(const std::string& path);
  ~SignalFile();
  SignalFile(SignalFile&&) noexcept;
  SignalFile& operator=(SignalFile&&) noexcept;

  // Throws what write() would for the kind of file and the contigs, before there are any values.
  void check(std::span<const Contig> contigs) const;
  // Once.
  void write(Signal& signal);
  void finish();
  void commit();
  // Of the file, between finish() and commit().
  std::uint64_t bytes() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace biogpu::genome
