#include "lib/io/output/temporary_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "lib/io/commit_guard.hpp"
#include "lib/io/output/new_names.hpp"
#include "lib/io/output/stale_files.hpp"
#include "lib/io/output/temp_registry.hpp"

namespace biogpu::io::output {
namespace {

constexpr int kMaxAttempts = 1000;
// Finished files without a name that stay open; more get a hidden name, as descriptors are few.
constexpr int kMaxKept = 64;
std::atomic<int> n_kept{0};

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash + 1);
}

bool is_folder(const std::string& path) {
  struct stat status {};
  return lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

std::string path_of(int descriptor) { return "/proc/self/fd/" + std::to_string(descriptor); }

}  // namespace

TemporaryFile::TemporaryFile(std::string final_path)
    : final_(std::move(final_path)), folder_(folder_of(final_)) {}

TemporaryFile::~TemporaryFile() {
  close_descriptor();
  if (hidden_.empty()) return;
  unlink(hidden_.c_str());
  forget_hidden();
}

int TemporaryFile::open() {
#ifdef O_TMPFILE
  const std::string folder = folder_.empty() ? "." : folder_;
  descriptor_ = ::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
  // It gets its name through /proc.
  if (descriptor_ >= 0 && access(path_of(descriptor_).c_str(), F_OK) == 0) return 0;
  close_descriptor();
#endif
  return open_named();
}

int TemporaryFile::open_named() {
  remove_stale_files(folder_);
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    std::string name = next_hidden_name(folder_);
    // In the list before it exists: a signal in between must not leave it behind.
    registered_ = register_temp(name);
    descriptor_ = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ >= 0) {
      hidden_ = std::move(name);
      return 0;
    }
    const int error = errno;
    forget_hidden();
    if (error != EEXIST) return error;
  }
  return EEXIST;
}

int TemporaryFile::share_descriptor() {
  const int copy = fcntl(descriptor_, F_DUPFD_CLOEXEC, 3);
  if (copy < 0) return errno;
  descriptor_ = copy;
  return 0;
}

int TemporaryFile::finish() {
  if (kept_ || descriptor_ < 0) return 0;
  if (!hidden_.empty()) return close_descriptor();
  // Some file systems report a full disk or quota only when a file is closed: every close does.
  const int copy = fcntl(descriptor_, F_DUPFD_CLOEXEC, 3);
  if (copy >= 0 && close(copy) != 0) return errno;
  kept_ = ++n_kept <= kMaxKept && copy >= 0;
  if (kept_) return 0;
  --n_kept;
  const int error = link_hidden();
  return error != 0 ? error : close_descriptor();
}

int TemporaryFile::commit() {
  const CommitGuard guard;
  if (const int error = finish(); error != 0) return error;
  auto name = std::make_unique<NewName>();
  name->path = final_;
  if (hidden_.empty()) {
    const int error = link_to(final_);
    if (error == 0) {
      const int late = close_descriptor();
      if (late != 0)
        unlink(final_.c_str());
      else
        add_name(std::move(name));
      return late;
    }
    if (error != EEXIST) return error;
    if (const int hidden = link_hidden(); hidden != 0) return hidden;
    if (const int late = close_descriptor(); late != 0) return late;
  }
  return replace_final(std::move(name));
}

int TemporaryFile::link_to(const std::string& name) const {
  const std::string self = path_of(descriptor_);
  const int rc = linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW);
  return rc == 0 ? 0 : errno;
}

int TemporaryFile::link_hidden() {
  remove_stale_files(folder_);
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    std::string name = next_hidden_name(folder_);
    registered_ = register_temp(name);
    const int error = link_to(name);
    if (error == 0) {
      hidden_ = std::move(name);
      return 0;
    }
    forget_hidden();
    if (error != EEXIST) return error;
  }
  return EEXIST;
}

int TemporaryFile::close_descriptor() {
  if (std::exchange(kept_, false)) --n_kept;
  if (descriptor_ < 0) return 0;
  return close(std::exchange(descriptor_, -1)) == 0 ? 0 : errno;
}

int TemporaryFile::replace_final(std::unique_ptr<NewName> name) {
  if (exchange_names()) {
    if (is_folder(hidden_)) {  // it gets its name back
      exchange_names();
      return EISDIR;
    }
    name->previous = std::move(hidden_);
    name->registered = std::exchange(registered_, nullptr);
    hidden_.clear();
    add_name(std::move(name));
    return 0;
  }
  const bool replaces = access(final_.c_str(), F_OK) == 0;
  // Another file may fail to get its name yet: what bore this one keeps a second name so long.
  if (replaces && CommitGuard::is_nested()) keep_previous(*name);
  if (std::rename(hidden_.c_str(), final_.c_str()) != 0) {
    const int error = errno;
    if (!name->previous.empty()) unlink(name->previous.c_str());
    unregister_temp(name->registered);
    return error;
  }
  forget_hidden();
  if (!replaces || !name->previous.empty()) add_name(std::move(name));
  return 0;
}

// Where a file can have two names.
void TemporaryFile::keep_previous(NewName& name) const {
  std::string hidden = next_hidden_name(folder_);
  name.registered = register_temp(hidden);
  if (link(final_.c_str(), hidden.c_str()) == 0)
    name.previous = std::move(hidden);
  else
    unregister_temp(std::exchange(name.registered, nullptr));
}

// Swaps the temporary file with the one that bears the final name. False where there is none, or
// where the file system cannot. A rename onto a file makes ext4 bring what was written to the disk
// first, which for a large output takes longer than writing it did. As with every new file, what a
// power cut leaves is then up to the file system; who needs more calls sync.
bool TemporaryFile::exchange_names() const {
#ifdef RENAME_EXCHANGE
  return renameat2(AT_FDCWD, hidden_.c_str(), AT_FDCWD, final_.c_str(), RENAME_EXCHANGE) == 0;
#else
  return false;
#endif
}

void TemporaryFile::forget_hidden() {
  unregister_temp(std::exchange(registered_, nullptr));
  hidden_.clear();
}

}  // namespace biogpu::io::output
