#pragma once

#include <memory>
#include <string>

namespace biogpu::io::output {

struct NewName;
struct TempName;

// The bytes of an output that does not have its name yet. Where the file system can, a file without
// any name (O_TMPFILE), so that nothing is left however the program ends; else a hidden name in the
// output's folder, which the destructor and remove_unfinished_outputs() remove. Functions that
// return int return 0 or an errno.
class TemporaryFile {
 public:
  // final_path: what commit() names, or replaces.
  explicit TemporaryFile(std::string final_path);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  int open();
  int descriptor() const { return descriptor_; }
  // Keeps a copy of the descriptor, so that the caller may close it.
  int share_descriptor();
  // Does all that commit() does but the naming, and of a folder's many outputs gives back the
  // descriptor.
  int finish();
  // The name may be taken back while a CommitGuard exists.
  int commit();

 private:
  int open_named();
  int link_to(const std::string& name) const;
  int link_hidden();
  int close_descriptor();
  int replace_final(std::unique_ptr<NewName> name);
  void keep_previous(NewName& name) const;
  bool exchange_names() const;
  void forget_hidden();

  const std::string final_;
  const std::string folder_;
  std::string hidden_;  // empty where the file has no name
  int descriptor_ = -1;
  bool kept_ = false;               // finished, its descriptor still open
  TempName* registered_ = nullptr;  // hidden_, for the signal handler
};

}  // namespace biogpu::io::output
