#include "lib/io/sequence_batch.hpp"

namespace biogpu::io {

void SequenceBatch::clear(std::uint64_t first_record) {
  text_.clear();
  records_.clear();
  first_record_ = first_record;
  n_residues_ = 0;
}

void SequenceBatch::append(std::string_view name, std::string_view comment,
                           std::string_view sequence, std::string_view quality, bool has_quality) {
  Record record;
  record.name = text_.size();
  record.name_len = static_cast<std::uint32_t>(name.size());
  record.comment = record.name + name.size();
  record.comment_len = static_cast<std::uint32_t>(comment.size());
  record.quality = record.comment + comment.size();
  record.has_quality = has_quality;
  record.sequence = record.quality + (has_quality ? quality.size() : 0);
  record.sequence_len = sequence.size();
  text_.append(name.data(), name.size());
  text_.append(comment.data(), comment.size());
  if (has_quality) text_.append(quality.data(), quality.size());
  text_.append(sequence.data(), sequence.size());  // last, so that extend_sequence() can go on
  records_.push_back(record);
  n_residues_ += sequence.size();
}

}  // namespace biogpu::io
