#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lib/io/alignments/sam_writer.hpp"

namespace biogpu::app {

// A record of SAM with copies of all that it looks at.
class HeldRow {
 public:
  explicit HeldRow(const io::SamRecord& record);

  io::SamRecord record() const;  // looks at this row
  bool has_place() const { return fields_.target_id >= 0; }
  std::int32_t score() const { return fields_.score; }
  std::uint64_t bytes() const;

 private:
  io::SamRecord fields_;  // without what it looked at
  std::size_t name_size_ = 0;
  std::size_t sequence_size_ = 0;
  std::string text_;  // name, residues, qualities
  std::vector<std::uint32_t> cigar_;
};

// The rows of one read until all are known: only then is it clear which is the primary line. Of
// many rows, those that cannot be primary any more are written before the others, so that memory
// stays bounded.
class HeldRead {
 public:
  using Write = std::function<void(const io::SamRecord&)>;
  explicit HeldRead(Write write, std::uint64_t max_bytes = 16u << 20);

  void add(HeldRow row);
  // No row is left of this read: writes them, the first of the best score as the primary line and
  // the others with FLAG 256, or without any place one line that says so.
  void finish();

 private:
  void write_secondary(HeldRow& row) const;
  void shrink();

  const Write write_;
  const std::uint64_t max_bytes_;
  std::uint64_t bytes_ = 0;
  std::vector<HeldRow> rows_;
  std::size_t best_ = 0;
};

}  // namespace biogpu::app
