#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace biogpu {

// Each value is the exit code that the program ends with; docs/commands/exit-codes.md lists them.
enum class ErrorCode {
  failed = 1,         // input or output failed, or a defect of ours
  usage = 2,          // the command line is wrong
  bad_input = 3,      // an input file is malformed
  device = 4,         // the device asked for is missing or unsupported
  device_memory = 5,  // out of device memory at the smallest batch
  host_memory = 137,  // out of host memory
};

// An error that ends the run. what() is one line: "<file[: record N (line M)]>: <what>; <expected
// or next step>". The program prints it once, after "biogpu <command>: ", and exits with code().
class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ErrorCode code() const { return code_; }

 private:
  ErrorCode code_;
};

// The reader of our standard output closed it. Not a failure: the program ends quietly with 0.
class ClosedPipe : public std::exception {
 public:
  const char* what() const noexcept override { return "the reader of the output closed it"; }
};

}  // namespace biogpu
