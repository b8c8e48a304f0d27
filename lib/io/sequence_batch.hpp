#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/io/char_buffer.hpp"

namespace biogpu::io {

// A run of records from one FASTA, FASTQ, SAM, BAM or CRAM file, in file order. All text lies in
// one buffer that is reused between batches: filling a batch allocates nothing once it has grown.
// Views stay valid until the next clear() or append.
class SequenceBatch {
 public:
  struct Record {
    std::uint64_t name = 0;      // offsets into text_
    std::uint32_t name_len = 0;  // up to the first blank
    std::uint32_t comment_len = 0;
    std::uint64_t comment = 0;
    std::uint64_t sequence = 0;
    std::uint64_t quality = 0;
    std::uint64_t sequence_len = 0;
    bool has_quality = false;
  };

  std::size_t size() const { return records_.size(); }
  bool empty() const { return records_.empty(); }
  // Number in the file of the first record of this batch, from 1.
  std::uint64_t first_record() const { return first_record_; }
  // Sum of the sequence lengths, in residues.
  std::uint64_t n_residues() const { return n_residues_; }
  // Memory that the records take: names, comments, residues, qualities, and where they are.
  std::uint64_t n_bytes() const { return text_.size() + records_.size() * sizeof(Record); }

  std::string_view name(std::size_t i) const {
    return {text_.data() + records_[i].name, records_[i].name_len};
  }
  // What follows the name on the header line, without the separating blanks.
  std::string_view comment(std::size_t i) const {
    return {text_.data() + records_[i].comment, records_[i].comment_len};
  }
  // Residues exactly as in the file (case kept), lines joined, no white space.
  std::string_view sequence(std::size_t i) const {
    return {text_.data() + records_[i].sequence, records_[i].sequence_len};
  }
  // Phred symbols with their offset still added; empty for FASTA and for "*".
  std::string_view quality(std::size_t i) const {
    if (!records_[i].has_quality) return {};
    return {text_.data() + records_[i].quality, records_[i].sequence_len};
  }

  void clear(std::uint64_t first_record);
  void set_first_record(std::uint64_t first_record) { first_record_ = first_record; }
  // quality is as long as sequence, or has_quality is false and it is ignored.
  void append(std::string_view name, std::string_view comment, std::string_view sequence,
              std::string_view quality, bool has_quality);

  // A copy of record i of another batch.
  void append_from(const SequenceBatch& from, std::size_t i) {
    append(from.name(i), from.comment(i), from.sequence(i), from.quality(i),
           from.records_[i].has_quality);
  }

  // For readers. A record that arrives in pieces: append() with an empty sequence, then the pieces.
  void extend_sequence(const char* residues, std::size_t n) {
    text_.append(residues, n);
    records_.back().sequence_len += n;
    n_residues_ += n;
  }
  // For readers. A record whose fields all lie inside text: copied at once; the offsets of record
  // are relative to text.
  void append_whole(std::string_view text, Record record) {
    const std::uint64_t base = text_.size();
    record.name += base;
    record.comment += base;
    record.sequence += base;
    record.quality += base;
    text_.append(text.data(), text.size());
    records_.push_back(record);
    n_residues_ += record.sequence_len;
  }

  // For readers. Records that stay where they are in a text: add_in_place() each, offsets being
  // those in the text, then swap_text(), before which no field may be looked at.
  void add_in_place(const Record& record) {
    records_.push_back(record);
    n_residues_ += record.sequence_len;
  }
  void swap_text(CharBuffer& text) { std::swap(text_, text); }

 private:
  CharBuffer text_;
  std::vector<Record> records_;
  std::uint64_t first_record_ = 1;
  std::uint64_t n_residues_ = 0;
};

}  // namespace biogpu::io
