#pragma once

#include <string_view>

#include "lib/io/char_buffer.hpp"
#include "lib/io/deflate_handles.hpp"

namespace biogpu::qc {

// Compresses text to whole gzip members: of up to 512 KiB of text each, about equal, or as BGZF
// blocks of 64 KiB, which other programs can decompress in parallel. The same text gives the same
// bytes.
class GzipCompressor {
 public:
  GzipCompressor(int level, bool bgzf);

  // Appends the members that hold text; none for no text.
  void compress(std::string_view text, io::CharBuffer& compressed);

  // What a file ends with: BGZF's end marker; else nothing, or an empty member for an empty file.
  static std::string_view end_of_file(bool bgzf, bool empty);

 private:
  io::Compressor compressor_;
  const bool bgzf_;
};

}  // namespace biogpu::qc
