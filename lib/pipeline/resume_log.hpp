#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "lib/pipeline/record_outputs.hpp"

namespace biogpu::pipeline {

// The results of a long run as they come, in a file of its own, so that a run that was cut short
// goes on where it stopped. Native byte order; a chunk that is not whole, or whose checksum is
// wrong, ends the file.
//
//   "BGIJ" 4 | length and text of the fingerprint | per batch: u64 bytes, payload, u32 CRC
class ResumeLog {
 public:
  // Opens or makes the file, and keeps it locked. fingerprint: what must be equal for results to be
  // usable: model, inputs, options. Errors: Error{failed} with path and reason, also for a symbolic
  // link, and where another run has the file or it is of another fingerprint.
  ResumeLog(std::string path, const std::string& fingerprint);
  ~ResumeLog();
  ResumeLog(const ResumeLog&) = delete;
  ResumeLog& operator=(const ResumeLog&) = delete;

  // Calls consume for each whole batch of the file, in order, and cuts off what is not whole.
  // Throws Error{bad_input} for a batch with a right checksum whose counts do not fit it.
  void replay(const std::function<void(const RecordOutputs&)>& consume);
  void append(const RecordOutputs& result);
  // When the output has its name.
  void remove();

 private:
  void open_locked();
  void begin(const std::string& fingerprint);
  [[noreturn]] void fail(const char* what, int error) const;
  bool read_exactly(void* to, std::size_t bytes);
  void write_all(const std::string& bytes);

  std::string path_;
  int descriptor_ = -1;
};

}  // namespace biogpu::pipeline
