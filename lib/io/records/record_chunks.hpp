#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "lib/io/input/block_queue.hpp"
#include "lib/io/input/byte_source.hpp"
#include "lib/io/input/raw_file.hpp"
#include "lib/io/records/record_boundary.hpp"
#include "lib/io/records/text_window.hpp"
#include "lib/io/sequence_batch.hpp"

namespace biogpu::io::input {

// A stretch of a file's text that begins and ends where records do, and those records.
struct RecordChunk {
  std::string_view text;    // in its block
  std::uint64_t begin = 0;  // offset of the text in the file; counted only in plain files
  bool ends_file = false;
  bool whole = false;  // else records is worthless: a malformed record, or a very long one
  SequenceBatch records;
  std::uint64_t n_lines = 0;
};

// What is to be cut into chunks.
struct ChunkRules {
  RecordFormat format = RecordFormat::fasta;
  bool words = false;                       // see FastaSource
  std::uint64_t max_residues = UINT64_MAX;  // a record of so many, or more, makes no whole chunk
  std::size_t chunk_bytes = 1u << 20;       // about
  std::uint64_t first_line = 1;             // number of the line that the text begins with
};

// The records of FASTA or FASTQ text, cut into chunks that several threads parse: of a plain file
// each reads its own part, other text one of them at a time reads and cuts. Chunks come in the
// order of the file as long as all is in order: at the first one that FastaSource or FastqSource
// refuses, or that holds a very long record, the rest is left to a serial reader, which then says
// what is wrong and where. That each chunk begins with a record follows by induction: the one
// before it ended there.
class RecordChunks {
 public:
  // Of a regular file of plain text, from the byte at `begin` on.
  RecordChunks(RawFile& file, std::uint64_t begin, const ChunkRules& rules, int n_threads);
  // Of any text.
  RecordChunks(std::unique_ptr<TextWindow> text, const ChunkRules& rules, int n_threads);
  ~RecordChunks();

  // The next chunk, the caller's until the call after this one; its records may be swapped for
  // others. nullptr at the end, or where the rest is left to a serial reader.
  RecordChunk* next();

  // After next() gave nullptr: the text that is left, none at the end of the file; and the number
  // of its first line and of the records before it. The chunks end there.
  std::unique_ptr<ByteSource> take_rest();
  std::uint64_t line() const { return line_; }
  std::uint64_t n_records() const { return n_records_; }

 private:
  bool fits(const RecordChunk& chunk) const;

  RawFile* file_ = nullptr;  // of plain text
  std::uint64_t begin_ = 0;  // of the next chunk in it
  std::uint64_t line_;
  std::uint64_t n_records_ = 0;
  std::shared_ptr<std::atomic<bool>> parses_;  // false: only the text is wanted any more
  std::unique_ptr<BlockQueue> queue_;
  const RecordChunk* refused_ = nullptr;
};

}  // namespace biogpu::io::input
