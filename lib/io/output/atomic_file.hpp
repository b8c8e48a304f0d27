#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "lib/io/output/temporary_file.hpp"

namespace biogpu::io::output {

// A file that gets its name when it is whole; until commit() it is a TemporaryFile in the same
// folder. What the program was started with (standard output, "-", and other descriptors), devices
// and pipes are written in place. A symbolic link is followed, to a file that does not exist too:
// what it points to is replaced, with its permissions kept. Errors: Error{failed} with
// path and reason; ClosedPipe where the reader of a pipe is gone, and this is the only output.
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
  // Whether it can be written again from its beginning: not what the program was started with,
  // which may hold other text before.
  bool can_seek() const;
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
  // Counts the outputs that are not whole.
  class Unfinished {
   public:
    Unfinished() { ++count(); }
    ~Unfinished() { --count(); }
    Unfinished(const Unfinished&) = delete;
    Unfinished& operator=(const Unfinished&) = delete;
    static std::atomic<int>& count();
  };

  std::string label_;
  std::optional<Unfinished> unfinished_{std::in_place};
  std::optional<TemporaryFile> temporary_;  // none where the file is written in place
  int descriptor_ = -1;                     // of what is written in place
  bool is_stream_ = false;                  // a descriptor that the program was started with
};

}  // namespace biogpu::io::output
