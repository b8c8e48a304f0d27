#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lib/bio/genome/letters.hpp"
#include "lib/bio/genome/window.hpp"
#include "lib/io/bad_records.hpp"
#include "lib/io/sequence_reader.hpp"

namespace biogpu::genome {

// A record of a sequence file as the input of a model.
struct SequenceWindow {
  std::string key;           // the record's name
  std::uint64_t record = 0;  // its number in the file, from 1
  std::vector<LetterCode> codes;
};

// The records of a sequence file, each one window of a model's length. Errors: those of
// SequenceReader; Error{bad_input} with file, record and position for a character that is no letter
// of DNA, and with both lengths for a record of another one where fit is exact; where such records
// are skipped, none of these two.
class FastaWindows {
 public:
  // length: of a window; none keeps the records as they are.
  FastaWindows(const std::string& path, std::optional<std::size_t> length, Fit fit,
               int n_threads = 1, io::BadRecords bad = io::BadRecords::refuse);

  // Before the first next(): only these records are given out.
  void select(const io::RecordRange& range) { reader_.select(range); }

  // False at the end of the file.
  bool next(SequenceWindow& window);
  std::uint64_t n_skipped() const { return n_skipped_; }

 private:
  SequenceWindow window_of_record() const;
  std::string place() const;

  io::SequenceReader reader_;
  std::optional<std::size_t> length_;
  Fit fit_;
  io::BadRecords bad_;
  std::uint64_t n_skipped_ = 0;
  std::string label_;
  io::SequenceBatch batch_;
  std::size_t next_ = 0;  // in the batch
};

}  // namespace biogpu::genome
