#pragma once

#include <optional>
#include <string>

#include "apps/biogpu/align/format/held_read.hpp"
#include "apps/biogpu/align/format/rows.hpp"
#include "lib/io/alignments/sam_text.hpp"
#include "lib/io/alignments/sam_writer.hpp"
#include "lib/io/output_file.hpp"

namespace biogpu::app {

// Where rows go. Text was made by the workers; only BAM and CRAM records are encoded here, and the
// lines of reads whose rows come from several units.
class AlignSink {
 public:
  // header: what the text begins with. command_line: for @PG in BAM and CRAM. The style stays.
  AlignSink(const std::string& path, const RowStyle& style, const std::string& header,
            const std::string& command_line, int n_threads);

  void write(Rows& rows);
  // After the last unit: the number of rows.
  std::uint64_t finish();
  void commit();
  std::uint64_t bytes() const { return text_ ? text_->bytes() : 0; }

 private:
  void write_record(const io::SamRecord& record);

  const RowStyle& style_;
  const io::output::SeqLetters letters_;
  HeldRead held_;
  std::string line_;
  std::uint64_t n_rows_ = 0;
  std::optional<io::OutputFile> text_;
  std::optional<io::SamWriter> records_;
};

// What the file of a format begins with: column names, or the SAM header.
std::string row_header(const RowStyle& style, const std::string& command_line);

}  // namespace biogpu::app
