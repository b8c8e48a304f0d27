#pragma once

#include <cstdint>
#include <memory>

#include "lib/io/records/chunk_parser.hpp"

namespace biogpu::io::input {

// Chunks of a plain file from the byte at `begin` on: that number i holds the records that begin
// between i and i + 1 times chunk_bytes after it. Each worker reads and cuts its own.
class FileChunks : public BlockProducer {
 public:
  FileChunks(const RawFile& file, std::uint64_t begin, ChunkParser parser);

  bool take(Block& block) override;
  void finish(Block& block) override;

 private:
  class Text;
  void cut(Text& text, RecordChunk& chunk, bool is_first, bool is_last) const;

  const RawFile& file_;
  const std::uint64_t begin_;
  const std::uint64_t end_;
  const ChunkParser parser_;
  std::uint64_t next_;  // offset of the next chunk
};

// Chunks of a text that passes once; the worker whose turn it is reads and cuts.
class TextChunks : public BlockProducer {
 public:
  TextChunks(std::unique_ptr<TextWindow> text, ChunkParser parser)
      : text_(std::move(text)), parser_(std::move(parser)) {}

  bool take(Block& block) override;
  void finish(Block& block) override;

 private:
  bool fill(CharBuffer& text, std::size_t size);
  std::size_t find_end(CharBuffer& text);

  std::unique_ptr<TextWindow> text_;
  const ChunkParser parser_;
  CharBuffer tail_;  // read already, of the next chunk
  bool at_end_ = false;
  bool splits_ = true;  // until a record is too long
};

}  // namespace biogpu::io::input
