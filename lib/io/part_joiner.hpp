#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "lib/io/output_file.hpp"
#include "lib/io/text_reader.hpp"

namespace biogpu::io {

enum class PartFormat {
  tsv,    // begins with one line of column names
  sam,    // begins with lines of '@'
  vcf,    // begins with lines of '#'
  lines,  // no header
};

// Writes text parts of one run one after the other, what they begin with once. A part that ends
// inside a line, and a row with another number of columns than its format has, show that a part is
// cut. Holds no part in memory.
class PartJoiner {
 public:
  PartJoiner(PartFormat format, OutputFile& out) : format_(format), out_(out) {}

  // Errors: Error{bad_input} with the path for a part that is compressed otherwise than with gzip,
  // is no text, is cut, or begins with another header than the first; those of TextReader.
  void add(const std::string& path);

 private:
  std::string_view take_tsv_header(TextReader& reader, std::string_view text);
  std::string_view take_marked_header(TextReader& reader, std::string_view text);
  std::string_view take_line(TextReader& reader, std::string_view text, std::string& line);
  void check_rows(std::string_view text);
  void check_row() const;

  const PartFormat format_;
  OutputFile& out_;
  std::string path_;  // of the part
  std::string header_;
  std::uint64_t n_header_columns_ = 0;
  std::uint64_t line_ = 0;       // of the part, whole ones
  std::uint64_t n_columns_ = 1;  // of the line that is being read
  bool is_first_ = true;
};

}  // namespace biogpu::io
