#include "apps/biogpu/align/sink.hpp"

#include "lib/io/output/sam_text.hpp"

namespace biogpu::app {

AlignSink::AlignSink(const std::string& path, const RowStyle& style, const std::string& header,
                     const std::string& command_line, int n_threads) {
  if (style.format == RowFormat::bam) {
    records_.emplace(path, style.targets, command_line, n_threads);
    return;
  }
  text_.emplace(path, n_threads);
  text_->write(header);
}

void AlignSink::write(const Rows& rows) {
  if (text_) text_->write(rows.text);
  if (records_)
    for (const io::SamRecord& record : rows.records) records_->write(record);
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
