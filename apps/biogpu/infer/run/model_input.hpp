#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "lib/report/json_summary.hpp"

namespace biogpu::app {

// What the log calls the records of an input and what they consist of.
struct RecordWords {
  const char* records = "sequences";
  const char* parts = "residues";
  bool rate_of_parts = true;  // a rate counts parts, not records
};

// For the summary; 0 bytes where it is no regular file.
inline report::InputFile input_file(const std::string& path, std::uint64_t n_records) {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(path, error);
  return {path, error ? 0 : bytes, n_records};
}

// What a model runs over: files of sequences, structures, ... A batch is read into a slot of the
// pipeline and belongs to it until the slot's next turn.
class ModelInput {
 public:
  explicit ModelInput(RecordWords words) : words_(words) {}
  virtual ~ModelInput() = default;
  ModelInput(const ModelInput&) = delete;
  ModelInput& operator=(const ModelInput&) = delete;

  const RecordWords& words() const { return words_; }
  // How many records there are; 0 where only the end of the files tells.
  virtual std::uint64_t n_records() const { return 0; }

  // Before the first read(): the slots, and how many records are passed over as their results are
  // there already.
  void begin(std::size_t n_slots, std::uint64_t n_done) {
    n_to_skip_ = n_done;
    set_slots(n_slots);
  }
  // Reads the next batch into a slot. One thread at a time. False: nothing is left.
  virtual bool read(std::size_t slot) = 0;
  // After the last read(): what should have been passed over and was not there.
  std::uint64_t n_not_found() const { return n_to_skip_; }
  // For the summary: those that are read to their end.
  virtual std::vector<report::InputFile> files() const = 0;

 protected:
  virtual void set_slots(std::size_t n_slots) = 0;
  // How many of the next n records are passed over.
  std::uint64_t skip(std::uint64_t n) {
    const std::uint64_t n_skipped = std::min(n, n_to_skip_);
    n_to_skip_ -= n_skipped;
    return n_skipped;
  }

 private:
  const RecordWords words_;
  std::uint64_t n_to_skip_ = 0;
};

}  // namespace biogpu::app
