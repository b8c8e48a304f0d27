#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lib/io/output/temporary_file.hpp"

namespace biogpu::io::output {

// A file that gets its name when it is whole; until commit() it is a TemporaryFile in the same
// folder. Standard output ("-"), devices and pipes are written in place. A symbolic link is
// followed: what it points to is replaced, with its permissions kept. Errors: Error{failed} with
// path and reason; ClosedPipe where the reader of a pipe is gone.
class AtomicFile {
 public:
  explicit AtomicFile(const std::string& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  // The path as messages show it.
  const std::string& label() const { return label_; }
  int descriptor() const;

  void write(std::string_view bytes);
  // A file that has no name yet, or a hidden one: it may be written at any offset, by any thread.
  bool is_regular() const { return temporary_.has_value(); }
  void write_at(std::uint64_t offset, std::string_view bytes);
  void seek(std::uint64_t offset);  // where write() goes on
  // The caller closes descriptor() from now on, before commit().
  int release_descriptor();
  // Finds out what closing the file finds out; only its name is missing then.
  void finish();
  // Closes the file and gives it its name.
  void commit();

  [[noreturn]] void fail(const char* what, int error) const;

 private:
  std::string label_;
  std::optional<TemporaryFile> temporary_;  // none where the file is written in place
  int descriptor_ = -1;                     // of what is written in place
};

}  // namespace biogpu::io::output
