#pragma once

#include <cstdint>
#include <string>

#include "lib/io/sequence_batch.hpp"

namespace biogpu::io::input {

// The records of one file, one at a time.
class RecordSource {
 public:
  virtual ~RecordSource() = default;
  // Appends the next record to the batch. False, with nothing appended, at the end.
  virtual bool next(SequenceBatch& batch) = 0;
  // Whether next() goes on with the record that it appended last, of which it gave only a piece.
  virtual bool in_record() const { return false; }
  // Number of the line that follows; 0 where there are no lines.
  virtual std::uint64_t line() const { return 0; }
};

// Error{bad_input}: "<file>: record N (line M): <what>"; line 0 leaves the line out.
[[noreturn]] void refuse_record(const std::string& label, std::uint64_t record, std::uint64_t line,
                                const std::string& what);

// What messages say of residues.
inline constexpr const char* kExpectedResidues = "letters, '*', '-' or '.'";

// What a line of FASTA that is a comment begins with.
inline constexpr char kCommentMark = ';';

// How a message shows one byte: 'x' or byte 0x1f.
std::string show_byte(char byte);

}  // namespace biogpu::io::input
