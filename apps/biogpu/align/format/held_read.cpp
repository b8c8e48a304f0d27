#include "apps/biogpu/align/format/held_read.hpp"

#include <utility>

#include "apps/biogpu/align/format/sam.hpp"

namespace biogpu::app {

HeldRow::HeldRow(const io::SamRecord& record)
    : fields_(record),
      name_size_(record.query_name.size()),
      sequence_size_(record.sequence.size()),
      cigar_(record.cigar.begin(), record.cigar.end()) {
  text_.reserve(name_size_ + sequence_size_ + record.quality.size());
  text_ += record.query_name;
  text_ += record.sequence;
  text_ += record.quality;
}

io::SamRecord HeldRow::record() const {
  const std::string_view text = text_;
  io::SamRecord record = fields_;
  record.query_name = text.substr(0, name_size_);
  record.sequence = text.substr(name_size_, sequence_size_);
  record.quality = text.substr(name_size_ + sequence_size_);
  record.cigar = cigar_;
  return record;
}

std::uint64_t HeldRow::bytes() const {
  return sizeof(HeldRow) + text_.size() + cigar_.size() * sizeof(std::uint32_t);
}

HeldRead::HeldRead(Write write, std::uint64_t max_bytes)
    : write_(std::move(write)), max_bytes_(max_bytes) {}

void HeldRead::add(HeldRow row) {
  if (!rows_.empty()) {
    if (!row.has_place()) return;
    if (!rows_[best_].has_place()) rows_.clear();
  }
  if (rows_.empty() || row.score() > rows_[best_].score()) best_ = rows_.size();
  bytes_ += row.bytes();
  rows_.push_back(std::move(row));
  if (bytes_ > max_bytes_ && rows_.size() > 1) shrink();
}

void HeldRead::write_secondary(HeldRow& row) const {
  io::SamRecord record = row.record();
  record.flag |= kSamSecondary;
  write_(record);
}

void HeldRead::shrink() {
  for (std::size_t i = 0; i < rows_.size(); ++i)
    if (i != best_) write_secondary(rows_[i]);
  HeldRow best = std::move(rows_[best_]);
  bytes_ = best.bytes();
  rows_.clear();
  rows_.push_back(std::move(best));
  best_ = 0;
}

void HeldRead::finish() {
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (i == best_)
      write_(rows_[i].record());
    else
      write_secondary(rows_[i]);
  }
  rows_.clear();
  bytes_ = 0;
  best_ = 0;
}

}  // namespace biogpu::app
