#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "lib/io/char_buffer.hpp"

namespace biogpu::kmer {

// A plain FASTQ file of four-line records, read by many threads at once, each a piece of the file
// at a time. Where a record begins near the middle of a file is unambiguous: a line that begins
// with
// '@' is a name or a quality, and two lines after a quality comes a sequence, never a '+'.
class FastqChunks {
 public:
  static constexpr std::size_t kChunkBytes = 1u << 20;

  // Empty where path is no regular file that begins with '@'. The file is then to be read by
  // io::SequenceReader, which knows all forms.
  static std::unique_ptr<FastqChunks> open(const std::string& path,
                                           std::size_t chunk_bytes = kChunkBytes);
  ~FastqChunks();
  FastqChunks(const FastqChunks&) = delete;
  FastqChunks& operator=(const FastqChunks&) = delete;

  std::size_t n_chunks() const;

  // visit(sequence, quality) for each record that begins in the chunk, in order; returns their
  // number. text: the caller's, holds what is visited. Any thread. Throws Error{bad_input} for a
  // malformed record, Error{failed}.
  using Visit = std::function<void(std::string_view sequence, std::string_view quality)>;
  std::uint64_t read(std::size_t chunk, io::CharBuffer& text, const Visit& visit) const;

  std::uint64_t file_bytes() const { return file_bytes_; }

 private:
  FastqChunks(std::string path, int descriptor, std::uint64_t file_bytes, std::size_t chunk_bytes)
      : path_(std::move(path)),
        descriptor_(descriptor),
        file_bytes_(file_bytes),
        chunk_bytes_(chunk_bytes) {}

  [[noreturn]] void throw_bad_input() const;
  void fetch(std::uint64_t offset, std::size_t n, io::CharBuffer& to) const;

  std::string path_;
  int descriptor_;
  std::uint64_t file_bytes_;
  std::size_t chunk_bytes_;
};

}  // namespace biogpu::kmer
