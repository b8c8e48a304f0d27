#pragma once

#include <optional>
#include <string>

#include "apps/biogpu/bwt/queries.hpp"
#include "lib/io/alignments/sam_writer.hpp"
#include "lib/io/output_file.hpp"

namespace biogpu::app {

// Where answers go: a TSV of counts, or places as TSV, BED, SAM, BAM or CRAM.
class QuerySink {
 public:
  QuerySink(const bwt::FmIndex& index, const QueryFlags& flags, bool counts_only,
            const std::string& command_line);

  // Makes the item's text; any thread.
  void format(QueryItem& item) const;
  void write(const QueryItem& item);
  void commit();
  std::uint64_t bytes() const { return text_ ? text_->bytes() : 0; }

 private:
  enum class Form { counts, tsv, bed, sam };

  void format_query(QueryItem& item, std::size_t query) const;
  void write_sam(const QueryItem& item, std::size_t query);

  const bwt::FmIndex& index_;
  Form form_ = Form::counts;
  std::optional<io::OutputFile> text_;
  std::optional<io::SamWriter> sam_;
};

}  // namespace biogpu::app
