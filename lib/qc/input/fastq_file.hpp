#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lib/io/input/byte_source.hpp"
#include "lib/io/input/raw_file.hpp"
#include "lib/qc/input/fastq_chunk.hpp"

namespace biogpu::qc {

// Threads of its own that a file may take to inflate; 0: the reader inflates.
struct Inflaters {
  int bgzf = 0;    // whose blocks are inflated at no more cost
  int pieces = 0;  // of any other gzip, which takes three times the work
};

// What becomes of text that is no FASTQ record.
enum class Damage {
  refused,  // Error{bad_input} with file, record and line
  // As fastp 0.23: lines before a name are skipped, the third line is not looked at, and a record
  // whose sequence and quality differ in length ends the file, with a remark.
  skipped,
  ends_look  // as skipped, but a line before a name ends the file too
};

// A FASTQ file (plain, gzip or BGZF, told by content), cut into chunks of a fixed number of
// records. A byte order mark is skipped. A record is four lines; LF and CRLF are accepted, as are
// empty lines between records and a missing end of line at the end. Memory is bounded by the
// records of a chunk: what is between them is not kept, and a line longer than kMaxLine is
// Error{bad_input} in every mode.
class FastqFile {
 public:
  static constexpr std::size_t kMaxLine = 16u << 20;

  FastqFile(const std::string& path, Damage damage, const Inflaters& inflaters);
  ~FastqFile();

  // Replaces the chunk by the next n records, fewer at the end, or where they come to max_bytes of
  // text. False when there are none.
  bool read(FastqChunk& chunk, std::size_t n, std::size_t max_bytes = SIZE_MAX);

  const std::string& label() const { return file_.label(); }
  const std::vector<std::string>& remarks() const { return remarks_; }
  std::uint64_t n_records() const { return n_records_; }
  std::uint64_t bytes_read() const { return file_.bytes_read(); }  // compressed
  std::uint64_t file_bytes() const { return file_.file_bytes(); }  // 0: not a regular file

 private:
  enum class Line { name, sequence, strand, quality };

  bool fill(FastqChunk& chunk);
  void drop_skipped(FastqChunk& chunk);
  bool take_line(FastqChunk& chunk, std::size_t begin, std::size_t end);
  bool end_record(FastqChunk& chunk);
  void end_of_file(FastqChunk& chunk);
  bool is_strict() const { return damage_ == Damage::refused; }
  [[noreturn]] void refuse(const std::string& what) const;
  [[noreturn]] void refuse_long_line() const;

  io::input::RawFile file_;
  std::unique_ptr<io::input::ByteSource> text_;
  const Damage damage_;
  std::vector<std::string> remarks_;
  io::CharBuffer rest_;  // read, and behind the last chunk
  std::vector<std::uint32_t> line_ends_;
  std::uint64_t n_records_ = 0;
  std::uint64_t n_lines_ = 0;
  bool at_end_ = false;
  bool stopped_ = false;

  // The chunk being filled.
  std::size_t line_begin_ = 0;   // of the line that is being looked for
  std::size_t records_end_ = 0;  // behind the last whole record
  RecordPlace record_;
  std::uint64_t quality_length_ = 0;
  Line next_ = Line::name;
};

}  // namespace biogpu::qc
