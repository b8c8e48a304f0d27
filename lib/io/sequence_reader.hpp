#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "lib/io/sequence_batch.hpp"

namespace biogpu::io::input {
class RawFile;
}

namespace biogpu::io {

// A batch ends with the record that reaches one of these; it always holds at least one.
// SequenceReader::read_any() keeps to them less strictly.
struct BatchLimits {
  std::size_t n_records = 65536;
  std::uint64_t n_residues = 16u << 20;
  std::uint64_t n_bytes = UINT64_MAX;  // SequenceBatch::n_bytes()
};

// Records of a file, counted from 0: begin, ..., end - 1.
struct RecordRange {
  std::uint64_t begin = 0;
  std::uint64_t end = UINT64_MAX;
};

// Reads sequences from a file or standard input ("-"): FASTA, FASTQ, each plain, gzip or BGZF, and
// SAM, BAM, CRAM; told apart by content, never by name. A byte order mark is skipped. LF and CRLF,
// wrapped lines, blanks and comments of FASTA (see input::FastaSource), blank lines between
// records, lower case, IUPAC codes and U are accepted, and letters kept as they are; SAM, BAM and
// CRAM hold nucleotides only, so that the residues of a protein become N there. Memory is bounded
// by the batch and the longest record, or piece of one. Up to n_threads threads run ahead: they
// decompress, and FASTA and FASTQ they cut into chunks of about chunk_bytes and parse. Records and
// errors are those of one thread.
//
// Errors: Error{bad_input} names file, record number and line of a malformed record, or the file
// alone where compressed data are damaged or cut short; Error{failed} names file and reason for one
// that cannot be read.
class SequenceReader {
 public:
  static constexpr std::size_t kChunkBytes = 1u << 20;

  // words: sequences of FASTA may hold words in brackets, <mask> or [MASK].
  explicit SequenceReader(const std::string& path, int n_threads = 1, bool words = false,
                          std::size_t chunk_bytes = kChunkBytes);
  // The same of a file that was opened, and perhaps peeked at, by the caller.
  explicit SequenceReader(std::unique_ptr<input::RawFile> file, int n_threads = 1);
  ~SequenceReader();
  SequenceReader(SequenceReader&&) noexcept;
  SequenceReader& operator=(SequenceReader&&) noexcept;

  // Before the first read(): only these records are given out; the rest is passed over.
  void select(const RecordRange& range);

  // Before the first read(): records of FASTA that are longer than n residues, n > overlap, are
  // given out in pieces of so many, each beginning with the last `overlap` residues of the piece
  // before it, so that every window of overlap + 1 residues is whole in exactly one. They count as
  // one record, and their residues once.
  void split_records(std::uint64_t n, std::size_t overlap);

  // Replaces the batch by the next records. False, with an empty batch, at the end of the file.
  bool read(SequenceBatch& batch, const BatchLimits& limits = {});
  // The same, but where records were parsed by several threads a batch may be a chunk of theirs as
  // it is, handed on without a copy: less than the limits allow, or up to a chunk more.
  bool read_any(SequenceBatch& batch, const BatchLimits& limits = {});

  bool is_alignments() const;  // SAM, BAM or CRAM
  const std::string& path() const;
  std::uint64_t n_records() const;         // given out so far
  std::uint64_t n_residues() const;        // given out so far
  std::uint64_t compressed_bytes() const;  // of the file, consumed so far: for progress
  std::uint64_t file_bytes() const;        // 0 when not a regular file

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace biogpu::io
