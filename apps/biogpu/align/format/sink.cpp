#include "apps/biogpu/align/format/sink.hpp"

#include <utility>

#include "lib/io/alignments/sam_text.hpp"

namespace biogpu::app {

AlignSink::AlignSink(const std::string& path, const RowStyle& style, const std::string& header,
                     const std::string& command_line, int n_threads)
    : style_(style),
      letters_(style.seq_letters),
      held_([this](const io::SamRecord& record) { write_record(record); }) {
  if (style.format == RowFormat::bam) {
    records_.emplace(path, style.targets, command_line, n_threads, style.seq_letters);
    return;
  }
  text_.emplace(path, n_threads);
  text_->write(header);
}

void AlignSink::write(Rows& rows) {
  for (HeldRow& row : rows.held_before) held_.add(std::move(row));
  if (rows.ends_read_before) held_.finish();
  if (text_) text_->write(rows.text);
  if (records_)
    for (const io::SamRecord& record : rows.records) records_->write(record);
  n_rows_ += rows.n_rows;
  for (HeldRow& row : rows.held_after) held_.add(std::move(row));
}

void AlignSink::write_record(const io::SamRecord& record) {
  ++n_rows_;
  if (records_) return records_->write(record);
  line_.clear();
  io::output::append_sam_line(line_, record, style_.targets, letters_);
  text_->write(line_);
}

std::uint64_t AlignSink::finish() {
  held_.finish();
  return n_rows_;
}

void AlignSink::commit() {
  if (text_) text_->commit();
  if (records_) records_->commit();
}

std::string row_header(const RowStyle& style, const std::string& command_line) {
  if (style.format == RowFormat::tsv) return tsv_header(style.columns);
  if (style.format == RowFormat::sam)
    return io::output::sam_header(style.out_path, style.targets, command_line);
  return {};
}

}  // namespace biogpu::app
