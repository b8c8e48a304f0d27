#pragma once

#include <string>
#include <string_view>

namespace biogpu::io::output {

struct UnfinishedName;

// A file that gets its name when it is whole. Until publish() its bytes lie under a hidden
// temporary name in the same folder, which the destructor and remove_unfinished_outputs() remove.
// Standard output ("-"), devices and pipes have no temporary name and are written in place. A
// symbolic link is followed: what it points to is replaced, with its permissions kept. Errors:
// Error{failed} with path and reason; ClosedPipe where the reader of a pipe is gone.
class TargetFile {
 public:
  explicit TargetFile(const std::string& path);
  ~TargetFile();
  TargetFile(const TargetFile&) = delete;
  TargetFile& operator=(const TargetFile&) = delete;

  // The path as messages show it.
  const std::string& label() const { return label_; }
  int descriptor() const { return descriptor_; }

  void write(std::string_view bytes);
  // The caller closes the descriptor from now on, before publish().
  int release_descriptor();
  // Closes the file; only its name is missing then.
  void finish();
  // Closes the file, where that is still to be done, and gives it its name.
  void publish();

  [[noreturn]] void fail(const char* what, int error) const;

 private:
  void open_temporary(const std::string& path);
  void forget_temporary();
  bool exchange_names() const;

  std::string label_;
  std::string final_;      // empty where the file is written in place
  std::string temporary_;  // empty where there is none (any more)
  int descriptor_ = -1;
  UnfinishedName* unfinished_ = nullptr;  // temporary_, for the signal handler
};

}  // namespace biogpu::io::output
