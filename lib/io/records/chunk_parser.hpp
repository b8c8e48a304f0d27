#pragma once

#include <atomic>
#include <memory>

#include "lib/io/records/record_chunks.hpp"

namespace biogpu::io::input {

// The chunk that a block holds, made where it holds none yet.
RecordChunk& chunk_of(Block& block);
const RecordChunk& chunk_of(const Block& block);

// Fills the records of chunks. Used by many threads at once.
class ChunkParser {
 public:
  // parses: while it holds true; else every chunk is left as not whole.
  ChunkParser(const ChunkRules& rules, std::shared_ptr<const std::atomic<bool>> parses)
      : rules_(rules), parses_(std::move(parses)) {}

  const ChunkRules& rules() const { return rules_; }
  // chunk.text, in the text of the block, and chunk.ends_file are set. Sets the rest but
  // chunk.begin; throws nothing that is about a record. The text may become that of the records.
  void parse(RecordChunk& chunk, CharBuffer& text) const;

 private:
  bool parse_fasta(RecordChunk& chunk, CharBuffer& text) const;
  bool parse_fastq(RecordChunk& chunk, CharBuffer& text) const;

  ChunkRules rules_;
  std::shared_ptr<const std::atomic<bool>> parses_;
};

}  // namespace biogpu::io::input
